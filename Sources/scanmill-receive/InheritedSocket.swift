#if canImport(Glibc)
  import Glibc
#endif

/// A listening socket that the starter of this program has opened, as systemd does for a `.socket` unit.
struct InheritedSocket {
  let descriptor: Int32
  /// The address, as of `--listen`; empty for one that is no address of IP.
  let host: String

  struct SocketError: Error, CustomStringConvertible {
    var description: String
  }

  private static let first: Int32 = 3

  /// The socket that `LISTEN_PID` and `LISTEN_FDS` tell of; `nil` if they tell of none for this process. Takes both out
  /// of the environment.
  static func fromEnvironment() throws(SocketError) -> InheritedSocket? {
    defer {
      for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsetenv(name) }
    }
    guard let pid = getenv("LISTEN_PID").flatMap({ Int32(String(cString: $0)) }), pid == getpid(),
      let count = getenv("LISTEN_FDS").flatMap({ Int32(String(cString: $0)) }), count > 0
    else { return nil }
    guard count == 1 else {
      throw SocketError(
        description: "LISTEN_FDS: \(count) sockets; one ListenStream= in the socket unit is served")
    }
    _ = fcntl(first, F_SETFD, FD_CLOEXEC)
    var listens: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    guard getsockopt(first, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0, listens == 1 else {
      throw SocketError(
        description: "LISTEN_FDS: not a listening socket; use ListenStream= and Accept=no")
    }
    return InheritedSocket(descriptor: first, host: host(of: first))
  }

  private static func host(of descriptor: Int32) -> String {
    var storage = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        guard getsockname(descriptor, address, &size) == 0,
          [sa_family_t(AF_INET), sa_family_t(AF_INET6)].contains(address.pointee.sa_family)
        else { return "" }
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard
          getnameinfo(
            address, size, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
        else { return "" }
        return String(
          decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      }
    }
  }
}
