#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "os/raw.h"

// Through one netlink socket: three requests in one message, each with its own answer. The first
// interface of a network namespace is lo.

namespace agent_exec::raw {
namespace {

constexpr int kLoopback = 1;
// Addresses that are set aside for documentation (RFC 5737, RFC 3849): nobody has them. Resolvers
// ask for addresses of a family only where a host has one besides the loopback's.
constexpr unsigned char kAddress4[4] = {192, 0, 2, 1};
constexpr unsigned char kAddress6[16] = {0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0,
                                         0,    0,    0,    0,    0, 0, 0, 1};

struct LinkRequest {
  struct nlmsghdr header;
  struct ifinfomsg link;
};
struct Address4Request {
  struct nlmsghdr header;
  struct ifaddrmsg address;
  struct rtattr local_header;
  unsigned char local[sizeof(kAddress4)];
};
struct Address6Request {
  struct nlmsghdr header;
  struct ifaddrmsg address;
  struct rtattr local_header;
  unsigned char local[sizeof(kAddress6)];
};
struct Requests {
  LinkRequest up;
  Address4Request address4;
  Address6Request address6;
};
static_assert(sizeof(LinkRequest) % NLMSG_ALIGNTO == 0 &&
              sizeof(Address4Request) % NLMSG_ALIGNTO == 0 &&
              sizeof(Address6Request) % NLMSG_ALIGNTO == 0);

struct nlmsghdr Header(size_t size, int type, unsigned sequence) {
  struct nlmsghdr header = {};
  header.nlmsg_len = static_cast<unsigned>(size);
  header.nlmsg_type = static_cast<unsigned short>(type);
  header.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
  if (type == RTM_NEWADDR) header.nlmsg_flags |= NLM_F_CREATE;
  header.nlmsg_seq = sequence;
  return header;
}

template <typename Request, size_t size>
void FillAddress(int family, const unsigned char (&address)[size], unsigned sequence,
                 Request* request) {
  request->header = Header(sizeof(*request), RTM_NEWADDR, sequence);
  request->address.ifa_family = static_cast<unsigned char>(family);
  request->address.ifa_prefixlen = static_cast<unsigned char>(8 * size);
  request->address.ifa_index = kLoopback;
  request->local_header.rta_type = IFA_LOCAL;
  request->local_header.rta_len = static_cast<unsigned short>(RTA_LENGTH(size));
  memcpy(request->local, address, size);
}

enum Sequence : unsigned { kUp = 1, kAdd4, kAdd6 };

// An answer to one of the requests. IPv6 may be left out of a kernel, or be switched off.
int Judge(unsigned sequence, int error) {
  if (error == 0 || error == EEXIST) return 0;
  const bool without6 = error == EOPNOTSUPP || error == EAFNOSUPPORT || error == EACCES ||
                        error == EPERM || error == ENODEV;
  return sequence == kAdd6 && without6 ? 0 : error;
}

int Answers(int socket) {
  alignas(struct nlmsghdr) char buffer[4096];
  int first = 0;
  for (int answered = 0; answered < 3;) {
    ssize_t got = recv(socket, buffer, sizeof(buffer), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got < 0 ? errno : EIO;
    unsigned left = static_cast<unsigned>(got);
    for (auto* header = reinterpret_cast<struct nlmsghdr*>(buffer); NLMSG_OK(header, left);
         header = NLMSG_NEXT(header, left)) {
      if (header->nlmsg_type != NLMSG_ERROR) continue;
      const auto* answer = static_cast<const struct nlmsgerr*>(NLMSG_DATA(header));
      int error = Judge(header->nlmsg_seq, -answer->error);
      if (first == 0) first = error;
      ++answered;
    }
  }
  return first;
}

// A test server on port 80 is what root of a machine of its own would start. Where /proc/sys is not
// ours to write (in place, below a container engine), it stays as the caller has it.
void OpenLowPorts() {
  int fd = open("/proc/sys/net/ipv4/ip_unprivileged_port_start", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  (void)!write(fd, "0", 1);
  (void)close(fd);
}

}  // namespace

int LoopbackUp() {
  int socket_fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (socket_fd < 0) return errno;
  Requests requests = {};
  requests.up.header = Header(sizeof(requests.up), RTM_NEWLINK, kUp);
  requests.up.link.ifi_index = kLoopback;
  requests.up.link.ifi_flags = IFF_UP;
  requests.up.link.ifi_change = IFF_UP;
  FillAddress(AF_INET, kAddress4, kAdd4, &requests.address4);
  FillAddress(AF_INET6, kAddress6, kAdd6, &requests.address6);
  int error = 0;
  if (send(socket_fd, &requests, sizeof(requests), 0) != sizeof(requests)) error = errno;
  if (error == 0) error = Answers(socket_fd);
  (void)close(socket_fd);
  if (error == 0) OpenLowPorts();
  return error;
}

}  // namespace agent_exec::raw
