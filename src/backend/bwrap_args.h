#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "backend/script.h"
#include "host/facts.h"
#include "plan/plan.h"

// Plan → the words of a bubblewrap command line.
//   Source: bwrap(1), bubblewrap.c of 0.8.

namespace agent_exec {

// Hands out descriptor numbers from 3 up that the command does not keep for itself.
class DescriptorNumbers {
 public:
  // In: sorted; must outlive this.
  explicit DescriptorNumbers(const std::vector<int>& keep) : keep_(keep) {}
  int Next();
  int highest() const { return last_; }  // the highest one given out; 2 when none was

 private:
  const std::vector<int>& keep_;
  size_t keep_index_ = 0;
  int last_ = 2;
};

struct BwrapArgs {
  std::vector<std::string> words;  // options alone, without the program, "--" and the command
  std::vector<PassBlob> blobs;     // the data files; their `blob` is an index into Plan::blobs
  std::vector<PassNull> nulls;     // the masks
};

// Namespaces, privileges and mounts. Descriptors that it names are those of `blobs` and `nulls`.
BwrapArgs MakeBwrapArgs(const Plan& plan, const HostFacts& facts, DescriptorNumbers* numbers);

// Would this variable act on bubblewrap itself, which is an ordinary dynamic program outside the
// sandbox? Those go to the command by --setenv and not through bubblewrap's environment.
bool ActsOnWrapper(absl::string_view name);

}  // namespace agent_exec
