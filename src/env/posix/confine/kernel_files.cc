#include "env/posix/confine/kernel_files.h"

#include <algorithm>
#include <utility>

#include <linux/magic.h>
#include <sys/vfs.h>

namespace perdure {
namespace {

using Type = std::pair<unsigned long, std::string_view>;

// The numbers without a constant are in no userspace header.
constexpr Type types[] = {
    {PROC_SUPER_MAGIC, "proc"},
    {SYSFS_MAGIC, "sysfs"},
    {DEVPTS_SUPER_MAGIC, "devpts"},
    {CGROUP_SUPER_MAGIC, "cgroup"},
    {CGROUP2_SUPER_MAGIC, "cgroup2"},
    {DEBUGFS_MAGIC, "debugfs"},
    {TRACEFS_MAGIC, "tracefs"},
    {SECURITYFS_MAGIC, "securityfs"},
    {BPF_FS_MAGIC, "bpf"},
    {SELINUX_MAGIC, "selinuxfs"},
    {SMACK_MAGIC, "smackfs"},
    {0x5a3c69f0UL, "apparmorfs"},
    {PSTOREFS_MAGIC, "pstore"},
    {EFIVARFS_MAGIC, "efivarfs"},
    {0x62656570UL, "configfs"},
    {RDTGROUP_SUPER_MAGIC, "resctrl"},
    {BINFMTFS_MAGIC, "binfmt_misc"},
    {BINDERFS_SUPER_MAGIC, "binder"},
    {NSFS_MAGIC, "nsfs"},
    {0x65735543UL, "fusectl"},
    {0x19800202UL, "mqueue"},
    {0x67596969UL, "rpc_pipefs"},
    {0x6e667364UL, "nfsd"},
    {XENFS_SUPER_MAGIC, "xenfs"},
    {USBDEVICE_SUPER_MAGIC, "usbfs"},
};

std::string_view name_of(const struct statfs& seen) {
  // It is a signed number on some machines.
  const auto type = static_cast<unsigned long>(seen.f_type) & 0xffffffffUL;
  const auto* const found = std::ranges::find(types, type, &Type::first);
  return found == std::end(types) ? std::string_view() : found->second;
}

}  // namespace

std::string_view kernel_file_system(int descriptor) {
  struct statfs seen{};
  return fstatfs(descriptor, &seen) == 0 ? name_of(seen) : "";
}

std::string_view kernel_file_system_at(const std::string& path) {
  struct statfs seen{};
  return statfs(path.c_str(), &seen) == 0 ? name_of(seen) : "";
}

}  // namespace perdure
