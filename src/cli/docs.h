#pragma once

#include <string>
#include <vector>

// Texts made from the settings table, so that none can disagree with what the launcher takes. All
// but the schema are printed by gen_docs.cc when the program is built and kept in man/ and
// completions/; a test compares.

namespace agent_exec {

// mdoc(7) for the places that man/*.in hold.
std::string
ManOptions();           // @OPTIONS@: a subsection with a list for each group, and one for the verbs
std::string ManKeys();  // @KEYS@: a subsection with a list for each table of a policy file
std::string ManWeakenings();  // @WEAKENINGS@: list items
// @BACKENDS@: list items. The caller copies them from the backend table, which lies in a higher
// layer.
struct BackendDoc {
  std::string name;
  std::string summary;
  std::vector<std::string> limits;
};
std::string ManBackends(const std::vector<BackendDoc>& backends);

// Completion scripts: options, their values, and after the options what the shell knows about the
// command itself.
std::string BashCompletion();
std::string ZshCompletion();
std::string FishCompletion();

// What --print-schema prints.
//   Source: JSON Schema draft-07, the newest that the TOML plug-ins of editors understand.
std::string SchemaJson();

}  // namespace agent_exec
