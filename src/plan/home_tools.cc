#include <algorithm>
#include <utility>

#include "absl/strings/str_split.h"
#include "base/path.h"
#include "plan/home.h"
#include "plan/home_tables.h"

// Programs that are installed in the home.

namespace agent_exec {
namespace {

// A directory of programs rarely holds more; one with more is read no further.
constexpr size_t kMaxLinks = 4096;

// Where a program in DIR/bin looks for its parts.
constexpr absl::string_view kSiblings[] = {"lib", "lib64", "libexec"};

class ToolPass {
 public:
  explicit ToolPass(Planning* planning) : planning_(*planning) {}

  void Run() {
    const std::string& home = planning_.anchors.home;
    if (!home.empty()) {
      for (const ToolRoot& root : ToolRoots()) ShowOnce(Join(home, root.path));
    }
    for (absl::string_view variable : ToolRootVariables()) {
      for (absl::string_view path :
           absl::StrSplit(CallerVariable(planning_.facts, variable), ':')) {
        if (IsAbsolute(path) && IsBelowHome(Clean(path))) ShowOnce(Clean(path));
      }
    }
    for (absl::string_view entry : absl::StrSplit(CallerVariable(planning_.facts, "PATH"), ':')) {
      if (IsAbsolute(entry)) ShowPathEntry(entry);
    }
  }

 private:
  bool IsBelowHome(absl::string_view path) const {
    const Anchors& anchors = planning_.anchors;
    return (!anchors.home.empty() && IsUnder(path, anchors.home) && path != anchors.home) ||
           (!anchors.passwd_home.empty() && IsUnder(path, anchors.passwd_home) &&
            path != anchors.passwd_home);
  }

  bool IsShown(absl::string_view path) const {
    return std::any_of(shown_.begin(), shown_.end(),
                       [&](const std::string& root) { return IsUnder(path, root); });
  }

  void ShowOnce(const std::string& path) {
    if (!IsShown(path) && Show(path, &planning_)) shown_.push_back(path);
  }

  void ShowPathEntry(absl::string_view entry) {
    // Nobody's home is reached through these, and every PATH has them.
    for (absl::string_view system : {"/usr", "/bin", "/sbin"}) {
      if (IsUnder(entry, system)) return;
    }
    FoundPath found = planning_.paths.Follow(entry);
    if (!found.is_directory() || !IsBelowHome(found.path) || !IsTrusted(found)) return;
    AddLinks(found.links, Purpose::kHome, planning_.origins.Implied("tools in the home"),
             &planning_);
    if (std::find(entries_.begin(), entries_.end(), found.path) != entries_.end()) return;
    ShowProgramDirectory(found.path);
    ShowWhatLinksLeadTo(found.path);
    entries_.push_back(std::move(found.path));
  }

  // Was nothing on the way made by the command?
  bool IsTrusted(const FoundPath& found) const {
    if (LedThroughWritable(found, planning_)) return false;
    return std::none_of(planning_.writable_roots.begin(), planning_.writable_roots.end(),
                        [&](const std::string& root) { return IsUnder(found.path, root); });
  }

  // DIR/bin with the siblings that its programs use, or the virtual environment that it belongs to.
  void ShowProgramDirectory(const std::string& directory) {
    std::string parent(Dirname(directory));
    if (IsBelowHome(parent) && planning_.paths.Follow(Join(parent, "pyvenv.cfg")).error == 0) {
      ShowOnce(parent);
      return;
    }
    ShowOnce(directory);
    for (absl::string_view sibling : kSiblings) ShowOnce(Join(parent, sibling));
  }

  void ShowWhatLinksLeadTo(const std::string& directory) {
    std::vector<DirEntry> entries;
    if (planning_.files.ListDir(directory, &entries) != 0) return;
    std::vector<std::string> links;
    for (DirEntry& entry : entries) {
      if (entry.type == NodeType::kSymlink || entry.type == NodeType::kUnknown) {
        links.push_back(std::move(entry.name));
      }
    }
    // In an order that does not depend on the file system, as the mount list must not.
    std::sort(links.begin(), links.end());
    if (links.size() > kMaxLinks) links.resize(kMaxLinks);
    for (const std::string& name : links) ShowWhatLinkLeadsTo(directory, name);
  }

  void ShowWhatLinkLeadsTo(const std::string& directory, const std::string& name) {
    std::string path = Join(directory, name);
    std::string text;
    if (planning_.files.ReadLink(path, &text) != 0) return;
    // Multi-call programs have dozens of links to their neighbour.
    if (text.find('/') == std::string::npos && IsShown(directory)) return;
    FoundPath found = planning_.paths.Follow(path);
    if (found.error != 0 || found.links.empty() || found.is_directory()) return;
    if (!IsBelowHome(found.path) || !IsTrusted(found)) return;
    AddLinks(found.links, Purpose::kHome, planning_.origins.Implied("tools in the home"),
             &planning_);
    if (!IsShown(found.path)) ShowLinkTarget(found.path);
  }

  // A program in a directory of its own is shown with it; one that lies about in a directory
  // directly below the home, such as ~/Downloads, alone: the other files there are nobody's parts.
  void ShowLinkTarget(const std::string& file) {
    std::string directory(Dirname(file));
    absl::string_view name = Basename(directory);
    bool is_program_directory = name == "bin" || name == "sbin" || name == "libexec";
    bool is_deep = IsBelowHome(directory) && IsBelowHome(Dirname(directory));
    if (is_program_directory || is_deep) {
      ShowProgramDirectory(directory);
    } else {
      ShowOnce(file);
    }
  }

  Planning& planning_;
  std::vector<std::string> shown_;
  std::vector<std::string> entries_;  // of PATH, those that were looked at
};

}  // namespace

void ShowTools(Planning* planning) { ToolPass(planning).Run(); }

}  // namespace agent_exec
