import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Core
@testable import Engine
@testable import Watch

@Suite("What a service manager is told", .runsPrograms)
struct SystemdNotifierTests {
  /// A socket as systemd has one.
  final class Listener {
    let descriptor: Int32
    init(_ bytes: [UInt8]) throws {
      descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
      let address = withUnsafeBytes(of: sa_family_t(AF_UNIX), Array.init) + bytes
      let code = address.withUnsafeBytes { bytes in
        bytes.baseAddress.map {
          bind(
            descriptor, $0.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
      }
      try #require(code == 0)
    }
    deinit { close(descriptor) }
    /// The next message that has come; `nil`: none.
    func next() -> String? {
      var buffer = [UInt8](repeating: 0, count: 8192)
      let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      return count < 0 ? nil : String(decoding: buffer[..<count], as: UTF8.self)
    }
  }

  private let folder: TemporaryFolder
  private let listener: Listener
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path.appending("notify").string
    listener = try Listener(Array(path.utf8) + [0])
  }

  @Test("Words of the protocol come one in a message")
  func words() throws {
    let manager = SystemdNotifier(environment: ["NOTIFY_SOCKET": path])
    #expect(manager.isPresent)
    manager.ready()
    #expect(listener.next() == "READY=1")
    manager.status("3 queued\nREADY=0 \u{1B}[31m")
    #expect(listener.next() == "STATUS=3 queued\\u{A}READY=0 \\u{1B}[31m")
    // What it says already is not said again.
    manager.status("3 queued\nREADY=0 \u{1B}[31m")
    manager.alive()
    #expect(listener.next() == "WATCHDOG=1")
    manager.status("2 queued")
    #expect(listener.next() == "STATUS=2 queued")
    manager.stopping()
    #expect(listener.next() == "STOPPING=1")
    let before = DispatchTime.now().uptimeNanoseconds / 1000
    manager.reloading()
    let lines = try #require(listener.next()).lines
    #expect(lines.count == 2)
    #expect(lines.first == "RELOADING=1")
    let micros = try #require(UInt64(lines[1].dropFirst("MONOTONIC_USEC=".count)))
    #expect((before...DispatchTime.now().uptimeNanoseconds / 1000).contains(micros))
    #expect(listener.next() == nil)
  }

  @Test("A socket without a file works as well")
  func abstract() throws {
    let name = "scanmill-\(UUID().uuidString)"
    let listener = try Listener([0] + Array(name.utf8))
    SystemdNotifier(environment: ["NOTIFY_SOCKET": "@" + name]).ready()
    #expect(listener.next() == "READY=1")
  }

  @Test("A status is cut before it is too long to be heard")
  func long() throws {
    let manager = SystemdNotifier(environment: ["NOTIFY_SOCKET": path])
    manager.status(String(repeating: "ä", count: 100_000))
    let told = try #require(listener.next())
    #expect(told.hasPrefix("STATUS=ä") && told.hasSuffix("…"))
    #expect(told.utf8.count < 1100)
  }

  @Test(
    "Without a socket that can be reached nothing happens",
    arguments: [
      nil, "", "@", "relative", "vsock:2:1234", "/nowhere/notify",
      "/" + String(repeating: "x", count: 200),
    ])
  func absent(socket: String?) {
    let manager = SystemdNotifier(
      environment: ["NOTIFY_SOCKET": socket, "WATCHDOG_USEC": "1000"].compactMapValues { $0 })
    manager.ready()
    manager.status("x")
    manager.alive()
    manager.reloading()
    manager.stopping()
    #expect(socket?.hasPrefix("/nowhere") == true || manager.watchdogSeconds == nil)
  }

  @Test("Nobody who reads: no message waits for ever")
  func deaf() {
    // The queue of a socket is bounded; what does not fit any more is dropped.
    let manager = SystemdNotifier(environment: ["NOTIFY_SOCKET": path])
    for _ in 0..<3000 { manager.alive() }
    #expect(listener.next() == "WATCHDOG=1")
  }

  @Test(
    "The watchdog counts when it is meant for this process",
    arguments: [
      ("30000000", nil, 30.0), ("30000000", "4711", 30), ("30000000", "4712", nil),
      ("30000000", "x", nil), ("0", nil, nil), ("-5", nil, nil), ("soon", nil, nil),
      (nil, "4711", nil), ("1500000", nil, 1.5),
    ] as [(String?, String?, Double?)])
  func watchdog(micros: String?, process: String?, seconds: Double?) {
    let environment = [
      "NOTIFY_SOCKET": path, "WATCHDOG_USEC": micros, "WATCHDOG_PID": process,
    ].compactMapValues { $0 }
    #expect(
      SystemdNotifier(environment: environment, process: 4711).watchdogSeconds == seconds)
  }

  @Test("Children get neither the socket nor the variables")
  func children() async {
    await #expect(processExitsWith: .success) {
      setenv("NOTIFY_SOCKET", "/nowhere/notify", 1)
      setenv("WATCHDOG_USEC", "1000000", 1)
      setenv("SCANMILL_KEPT", "1", 1)
      let manager = SystemdNotifier.ofThisProcess()
      guard manager.watchdogSeconds == 1, manager.isPresent else { exit(1) }
      let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
      let sockets = descriptors.compactMap { Int32($0) }.filter {
        let link = try? FileManager.default.destinationOfSymbolicLink(
          atPath: "/proc/self/fd/\($0)")
        return link?.hasPrefix("socket:") == true && $0 > 2
      }
      guard !sockets.isEmpty, sockets.contains(where: { fcntl($0, F_GETFD) & FD_CLOEXEC != 0 })
      else { exit(2) }
      let words = [
        "-c", "test -z \"$NOTIFY_SOCKET$WATCHDOG_USEC\" && test -n \"$SCANMILL_KEPT\"",
      ]
      exit(try Running("/bin/sh", words).finish().status)
    }
    let kept = SystemdNotifier.withoutVariables([
      "NOTIFY_SOCKET": "a", "WATCHDOG_PID": "1", "A": "b",
    ])
    #expect(kept == ["A": "b"])
  }
}

/// Programs of others that check what we write for them, where they are installed.
enum OtherPrograms {
  static let hasParser = has("python3", ["-c", "import prometheus_client"]) {
    "the Python module prometheus_client (Debian: python3-prometheus-client)"
  }
  static let hasPromtool = has("promtool", ["--version"]) { "promtool (Debian: prometheus)" }
  static let hasSystemdAnalyze = has("systemd-analyze", ["--version"]) {
    "systemd-analyze (Debian: systemd)"
  }
  static let hasJQ = has("jq", ["--version"]) { "jq" }
  static let hasNginx = has("nginx", ["-v"]) { "nginx (Debian: nginx-light)" }
  static let hasCaddy = has("caddy", ["version"]) { "caddy" }
  static let hasTestparm = has("testparm", ["--version"]) { "testparm (Debian: samba-common-bin)" }
  static let hasSSHD = has("sh", ["-c", "test -x /usr/sbin/sshd && mkdir -p /run/sshd"]) {
    "sshd (Debian: openssh-server)"
  }
  static let hasRrsync = has("sh", ["-c", "command -v rsync && command -v rrsync"]) {
    "rrsync (Debian: rsync)"
  }

  private static func has(_ program: String, _ arguments: [String], _ name: () -> String) -> Bool {
    if ForeignPrograms.areLeftOut { return false }
    if (try? run(program, arguments)) != nil { return true }
    print("note: \(name()) is absent: tests with it are skipped")
    return false
  }

  struct Failed: Error, CustomStringConvertible {
    var description: String
  }

  /// What it prints, errors included; throws when it does not end with 0.
  @discardableResult
  static func run(_ program: String, _ arguments: [String]) throws -> String {
    let result = try Running("/usr/bin/env", [program] + arguments).finish()
    let output = result.output + result.errors
    guard result.status == 0 else {
      throw Failed(description: "\(program) \(arguments): \(result.status)\n\(output)")
    }
    return output
  }
}
