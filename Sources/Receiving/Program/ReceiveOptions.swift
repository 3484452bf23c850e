import ArgumentParser
import Core
import Engine
import Glibc
import Receiving
import SystemPackage

/// The command line, read.
struct ReceiveOptions {
  var settings = ReceiverSettings()
  var limits = UploadLimits()
  var tokens: TokenList?

  /// - Parameter socket: in place of `--listen`.
  init(_ command: ReceiveArguments, socket: InheritedSocket? = nil) throws(ValidationError) {
    var (host, port) = try Self.address(command.listen)
    if let socket {
      (host, port) = (socket.host, 0)
      settings.inheritedSocket = socket.descriptor
    }
    settings.host = host
    settings.port = port
    settings.prefixes = try Self.prefixes(command.prefix)
    limits.file = try Self.size(command.maximumFile, "--maximum-file")
    limits.capture = try Self.size(command.maximumCapture, "--maximum-capture")
    limits.quota = try Self.size(command.quota, "--quota")
    limits.reserve = try Self.size(command.reserve, "--reserve") ?? 0
    guard command.maximumConnections >= 0 else {
      throw ValidationError("--maximum-connections: a number from 0")
    }
    settings.maximumConnections = command.maximumConnections
    settings.connectionsPerAddress =
      command.maximumConnections == 0 ? 0 : max(1, command.maximumConnections / 4)
    settings.headerTimeout = try Self.seconds(command.headerTimeout, "--header-timeout")
    settings.idleTimeout = try Self.seconds(command.idleTimeout, "--idle-timeout")
    settings.grace = try Self.seconds(command.grace, "--grace")
    let rate =
      command.minimumRate.hasSuffix("/s")
      ? String(command.minimumRate.dropLast(2)) : command.minimumRate
    settings.minimumRate = try Self.size(rate, "--minimum-rate") ?? 0
    settings.trustedProxies = Set(command.trustedProxy)
    for ending in (command.extensions ?? "").split(separator: ",") {
      let name = ending.drop { $0 == "." }.lowercased()
      guard !name.isEmpty, name.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x2F && $0 != 0x7F }) else {
        throw ValidationError("--extensions: '\(ending)' is no ending")
      }
      limits.endings.insert(name)
    }
    if let file = command.tokenFile { tokens = try Self.tokens(at: file) }
    if !ReceiverSettings.isLoopback(host), tokens == nil, !command.allowAnonymous {
      throw ValidationError(
        "\(socket.map { "the socket on \($0.host)" } ?? "--listen \(command.listen)"): others in the network reach this address. Say who may upload with "
          + "--token-file FILE, or let everybody with --allow-anonymous")
    }
  }

  static func tokens(at file: String) throws(ValidationError) -> TokenList {
    let path = FilePath(file)
    guard
      let folder = try? HeldFolder.following(
        path.removingLastComponent().isEmpty ? "." : path.removingLastComponent()),
      let name = path.lastComponent?.string,
      let bytes = try? folder.contents(of: name, limit: 1 << 20),
      let text = String(validating: bytes, as: UTF8.self)
    else { throw ValidationError("\(file): cannot be read as a file of tokens; check the path") }
    do throws(TokenList.ParseError) {
      return try TokenList(text: text)
    } catch {
      throw ValidationError("\(file): \(error)")
    }
  }

  private static func address(_ text: String) throws(ValidationError) -> (String, Int) {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...])
    else {
      throw ValidationError("--listen \(text): an address and a port, as 127.0.0.1:8000")
    }
    var host = text[..<colon]
    if host.first == "[", host.last == "]" { host = host.dropFirst().dropLast() }
    return (host.isEmpty ? "0.0.0.0" : String(host), Int(port))
  }

  private static func prefixes(_ list: [String]) throws(ValidationError) -> [String] {
    var prefixes: [String] = []
    for text in list {
      var path = text.hasPrefix("/") ? text : "/" + text
      while path.hasSuffix("/") { path.removeLast() }
      guard path.utf8.count > 1,
        path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x3F && $0 != 0x23 })
      else {
        throw ValidationError("--prefix \(text): a path, as /scans")
      }
      prefixes.append(path)
    }
    return prefixes
  }

  /// Bytes; `nil` for 0, which is no limit.
  private static func size(_ text: String, _ option: String) throws(ValidationError) -> Int64? {
    if text == "0" { return nil }
    guard let bytes = SizeText.bytes(text) else {
      throw ValidationError("\(option) \(text): a size with its unit, as 64GiB")
    }
    return bytes
  }

  private static func seconds(_ text: String, _ option: String) throws(ValidationError) -> Double {
    if text == "0" { return 0 }
    guard let nanoseconds = MomentText.durationNanoseconds(text) else {
      throw ValidationError("\(option) \(text): a time with its unit, as 30s")
    }
    return Double(nanoseconds) / 1e9
  }
}

/// A listening socket that the starter of this program has opened, as systemd does for a `.socket` unit.
struct InheritedSocket {
  let descriptor: Int32
  /// The address, as of `--listen`; empty for one that is no address of IP.
  let host: String

  private static let first: Int32 = 3

  /// The socket that `LISTEN_PID` and `LISTEN_FDS` tell of; `nil` if they tell of none for this process. Takes both out
  /// of the environment.
  static func fromEnvironment() throws(ValidationError) -> InheritedSocket? {
    defer {
      for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsetenv(name) }
    }
    guard let pid = getenv("LISTEN_PID").flatMap({ Int32(String(cString: $0)) }), pid == getpid(),
      let count = getenv("LISTEN_FDS").flatMap({ Int32(String(cString: $0)) }), count > 0
    else { return nil }
    guard count == 1 else {
      throw ValidationError(
        "LISTEN_FDS: \(count) sockets; one ListenStream= in the socket unit is served")
    }
    _ = fcntl(first, F_SETFD, FD_CLOEXEC)
    var listens: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    guard getsockopt(first, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0, listens == 1 else {
      throw ValidationError(
        "LISTEN_FDS: not a listening socket; use ListenStream= and Accept=no")
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
        return String(terminated: text)
      }
    }
  }
}
