#include <variant>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/json.h"
#include "base/version.h"
#include "verbs/findings.h"
#include "verbs/names.h"
#include "verbs/print_forms.h"

namespace agent_exec {
namespace {

std::string OctalText(uint32_t mode) {
  std::string digits;
  for (int shift = 9; shift >= 0; shift -= 3) {
    digits.push_back(static_cast<char>('0' + (mode >> shift & 7)));
  }
  return digits;
}

void WriteStrings(absl::string_view key, const std::vector<std::string>& values, JsonWriter* json) {
  json->Key(key).BeginArray();
  for (const std::string& value : values) json->String(value);
  json->EndArray();
}

void WriteMounts(const Plan& plan, JsonWriter* json) {
  json->Key("mounts").BeginArray();
  for (const MountOp& op : plan.mounts) {
    json->BeginObject().Key("kind").String(MountKindName(op.kind)).Key("target").String(op.target);
    if (!op.source.empty()) json->Key("source").String(op.source);
    json->Key("access").String(AccessName(op.access)).Key("node").String(NodeName(op.node));
    if (op.kind == MountKind::kTmpfs || op.kind == MountKind::kData) {
      json->Key("mode").String(OctalText(op.mode));
    }
    if (op.size_bytes > 0) json->Key("size").Int(op.size_bytes);
    json->Key("purpose").String(PurposeName(op.purpose));
    json->Key("origin").String(OriginText(plan, op.origin)).EndObject();
  }
  json->EndArray();
}

void WriteEnvironment(const Plan& plan, JsonWriter* json) {
  json->Key("environment").BeginArray();
  for (const EnvVar& variable : plan.env) {
    json->BeginObject().Key("name").String(variable.name).Key("value").String(variable.value);
    json->Key("passed").Bool(variable.passed);
    json->Key("origin").String(OriginText(plan, variable.origin)).EndObject();
  }
  json->EndArray();
}

struct StepWriter {
  const Script& script;
  JsonWriter* json;

  void operator()(const MakeLastingDir& step) const {
    json->Key("do").String("make-lasting-dir").Key("path").String(step.path);
  }
  void operator()(const MakePlaceholder& step) const {
    const Placeholder& placeholder = step.placeholder;
    json->Key("do").String("make-placeholder").Key("path").String(placeholder.path);
    json->Key("node").String(NodeName(placeholder.node)).Key("beneath").String(placeholder.root);
  }
  void operator()(const StartSweeper& step) const {
    json->Key("do").String("start-sweeper");
    if (step.info_fd >= 0) json->Key("info-fd").Int(step.info_fd);
  }
  void operator()(const HoldLink& step) const {
    json->Key("do").String("hold-link").Key("path").String(step.link.path);
    json->Key("text").String(step.link.text);
  }
  void operator()(const PassBlob& step) const {
    json->Key("do").String("pass-blob").Key("fd").Int(step.fd).Key("name").String(step.name);
    json->Key("base64").String(absl::Base64Escape(script.blobs[step.blob]));
  }
  void operator()(const PassNull& step) const {
    json->Key("do").String("pass-null").Key("fd").Int(step.fd);
  }
  void operator()(const SetLimit& step) const {
    json->Key("do").String("set-limit").Key("resource");
    json->String(step.resource == Resource::kFileSize ? "file-size" : "open-files");
    json->Key("value").Int(step.value);
  }
  void operator()(const CloseOthers& step) const {
    json->Key("do").String("close-others").Key("keep").BeginArray();
    for (int fd : step.keep) json->Int(fd);
    json->EndArray();
  }
  void operator()(const ChangeDir& step) const {
    json->Key("do").String("change-dir").Key("path").String(step.path);
  }
  void operator()(const EnterNamespaces& step) const {
    json->Key("do").String("enter-namespaces").Key("pid").Bool(step.pid).Key("net").Bool(step.net);
    json->Key("keep-background").Bool(step.keep_background);
    json->Key("uid-map").String(step.ids.uid_map).Key("gid-map").String(step.ids.gid_map);
    json->Key("deny-setgroups").Bool(step.ids.deny_setgroups);
    json->Key("by-parent").Bool(step.ids.by_parent);
  }
  void operator()(const PinTree& step) const {
    json->Key("do").String("pin-tree").Key("slot").Int(step.slot).Key("path").String(step.path);
    json->Key("writable").Bool(step.writable).Key("devices").Bool(step.devices);
  }
  void operator()(const NewTmpfs& step) const {
    json->Key("do").String("new-tmpfs").Key("slot").Int(step.slot);
    json->Key("mode").String(OctalText(step.mode)).Key("size").Int(step.size_bytes);
  }
  void operator()(const EnterRoot& step) const {
    json->Key("do").String("enter-root").Key("slot").Int(step.slot);
  }
  void operator()(const MakeMountPoint& step) const {
    json->Key("do").String("make-mount-point").Key("path").String(step.path);
    json->Key("node").String(NodeName(step.node));
  }
  void operator()(const Attach& step) const {
    json->Key("do").String("attach").Key("slot").Int(step.slot).Key("target").String(step.target);
  }
  void operator()(const CoverTree& step) const {
    json->Key("do").String("cover-tree").Key("path").String(step.path);
    json->Key("read-only").Bool(step.read_only).Key("optional").Bool(step.optional);
  }
  void operator()(const OpenStore& step) const {
    json->Key("do").String("open-store").Key("file-mode").String(OctalText(step.file_mode));
    json->Key("directory-mode").String(OctalText(step.directory_mode));
  }
  void operator()(const AttachMask& step) const {
    json->Key("do").String("attach-mask").Key("target").String(step.target);
    json->Key("node").String(NodeName(step.node));
  }
  void operator()(const AttachData& step) const {
    json->Key("do").String("attach-data").Key("target").String(step.target);
    json->Key("mode").String(OctalText(step.mode));
    json->Key("base64").String(absl::Base64Escape(script.blobs[step.blob]));
  }
  void operator()(const CloseStore&) const { json->Key("do").String("close-store"); }
  void operator()(const MountProc& step) const {
    json->Key("do").String("mount-proc").Key("target").String(step.target);
  }
  void operator()(const MountDevpts& step) const {
    json->Key("do").String("mount-devpts").Key("target").String(step.target);
  }
  void operator()(const MakeSymlink& step) const {
    json->Key("do").String("make-symlink").Key("path").String(step.path);
    json->Key("text").String(step.text);
  }
  void operator()(const SetReadOnly& step) const {
    json->Key("do").String("set-read-only").Key("target").String(step.target);
  }
  void operator()(const LoopbackUp&) const { json->Key("do").String("loopback-up"); }
  void operator()(const DropPrivileges&) const { json->Key("do").String("drop-privileges"); }
  void operator()(const ForkCommand&) const { json->Key("do").String("fork-command"); }
  void operator()(const RestrictLandlock& step) const {
    json->Key("do").String("restrict-landlock");
    WriteStrings("handled", LandlockRightNames(step.handled_fs), json);
    WriteStrings("scoped", LandlockScopeNames(step.scoped), json);
    json->Key("rules").BeginArray();
    for (const LandlockRule& rule : step.rules) {
      json->BeginObject();
      if (rule.path.empty()) {
        json->Key("fd").Int(rule.fd);
      } else {
        json->Key(rule.entries ? "in" : "path").String(rule.path);
      }
      WriteStrings("rights", LandlockRightNames(rule.rights), json);
      json->EndObject();
    }
    json->EndArray();
  }
  void operator()(const InstallFilter& step) const {
    json->Key("do").String("install-filter");
    json->Key("base64").String(absl::Base64Escape(script.blobs[step.blob]));
  }
  void operator()(const Exec& step) const {
    json->Key("do").String("exec").Key("path").String(step.path);
    WriteStrings("argv", step.argv, json);
    WriteStrings("env", step.env, json);
  }
};

void WriteSteps(const Script& script, JsonWriter* json) {
  json->Key("steps").BeginArray();
  for (const Step& step : script.steps) {
    json->BeginObject();
    std::visit(StepWriter{script, json}, step);
    json->EndObject();
  }
  json->EndArray();
}

}  // namespace

std::string FormatRunJson(const Plan& plan, const Backend& backend, const Rendered& rendered) {
  JsonWriter json(JsonWriter::Style::kIndented);
  json.BeginObject().Key("version").String(kVersion);
  WriteFindings(plan, backend, rendered, &json);
  json.Key("command").BeginObject().Key("path").String(plan.command.path);
  WriteStrings("argv", plan.command.argv, &json);
  json.Key("cwd").String(plan.command.cwd).EndObject();
  WriteStrings("argv", rendered.printed_argv, &json);
  WriteMounts(plan, &json);
  WriteEnvironment(plan, &json);
  WriteSteps(rendered.script, &json);
  json.EndObject();
  return json.Take() + "\n";
}

}  // namespace agent_exec
