import Foundation
import SystemPackage
import TestSupport

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
