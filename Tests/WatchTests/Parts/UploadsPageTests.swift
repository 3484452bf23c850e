import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Watch

@Suite("The page about uploads")
struct UploadsPageTests {
  private typealias Page = DocumentedPage
  private static let unit = "systemd/scanmill-receive@.service"
  private static let socket = "systemd/scanmill-receive@.socket"

  /// The block behind a sentence that names its file.
  private static func file(_ sentence: String) throws -> String {
    let page = try Page.text("uploads.md")
    let start = try #require(page.range(of: sentence), "\(sentence)")
    let parts = page[start.upperBound...].components(separatedBy: "```")
    let block = try #require(parts.count > 1 ? parts[1] : nil)
    return String(block[(block.firstIndex(of: "\n") ?? block.startIndex)...].dropFirst())
  }

  private static func write(_ text: String, _ name: String, in folder: TemporaryFolder) throws
    -> String
  {
    let path = folder.path.appending(name).string
    try Data(text.utf8).write(to: URL(filePath: path))
    return path
  }

  @Test("Every block of a property list is one")
  func propertyLists() throws {
    let blocks = try Page.blocks("xml", of: "uploads.md")
    #expect(blocks.count == 1)
    for block in blocks.map({ $0 }) {
      // As a part of a list in an item of the page.
      let list = "<plist version=\"1.0\"><dict>\(block)</dict></plist>"
      let object = try PropertyListSerialization.propertyList(from: Data(list.utf8), format: nil)
      let security = (object as? [String: Any])?["NSAppTransportSecurity"] as? [String: Any]
      #expect((security?["NSExceptionDomains"] as? [String: Any])?.count == 1)
    }
  }

  @Test("tells of every name that a program writes until a file is whole")
  func names() throws {
    let page = try Page.text("uploads.md")
    for (name, kind, target) in StagingNamesTests.names where kind == .transfer {
      // By its form: the table has NAME in the place of the file's.
      guard let target, !["a.FILEPART", "a.depth.TMP", "~syncthing~a.depth.tmp"].contains(name)
      else { continue }
      let form = name.replacing(target, with: "NAME")
      let start = form.prefix {
        !($0.isNumber || $0.isUppercase && $0 != "N") || "NAME".contains($0)
      }
      let known = page.contains("`\(form)`") || page.contains("`\(start)")
      #expect(known || name.hasSuffix(".minio") || name.hasSuffix(".!sync"), "\(form)")
    }
    for word in [".complete", ".upload.json", "sync-conflict", ".smbdelete", "@eaDir"] {
      #expect(page.contains(word))
    }
  }

  @Test("has an answer for each status that the receiver gives")
  func statuses() throws {
    let page = try Page.text("uploads.md")
    for status in [200, 400, 401, 413, 415, 503, 507] {
      #expect(page.contains("`Status Code: \(status)"), "\(status)")
    }
  }

  // MARK: systemd

  @Test("The receiver is waited for longer than its uploads are")
  func grace() throws {
    let start = try #require(try Page.value("ExecStart", Self.unit)).split(separator: " ")
    let grace = try #require(start.firstIndex(of: "--grace").map { String(start[$0 + 1]) })
    let stop = try #require(try Page.value("TimeoutStopSec", Self.unit))
    let seconds = [grace, stop].compactMap { Int($0.dropLast()) }
    #expect(grace.hasSuffix("s") && stop.hasSuffix("s"))
    #expect(seconds.count == 2 && seconds[0] < seconds[1])
  }

  @Test("The socket has the port of the service, one for all connections")
  func address() throws {
    let options = try Page.text("systemd/lab.conf").split(separator: " ")
    let address = try #require(
      options.firstIndex { $0.hasSuffix("=--listen") }.map { options[$0 + 1] })
    let lines = try Page.text(Self.socket).lines
    #expect(
      lines.filter { $0.hasPrefix("Listen") } == [
        "ListenStream=\(address.split(separator: ":")[1])"
      ])
    #expect(lines.contains("Accept=no") && lines.contains("WantedBy=sockets.target"))
  }

  // MARK: Programs in front and beside

  @Test("nginx takes its configuration", .enabled(if: OtherPrograms.hasNginx))
  func nginx() throws {
    let folder = try TemporaryFolder()
    let certificate = folder.path.appending("c.pem").string
    let key = folder.path.appending("c.key").string
    try OtherPrograms.run(
      "openssl",
      [
        "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=scans.example.org", "-days",
        "1", "-keyout", key, "-out", certificate,
      ])
    let site = try Self.file("nginx, as `/etc/nginx/conf.d/scanmill.conf`:")
      .replacing("/etc/ssl/certs/scans.example.org.pem", with: certificate)
      .replacing("/etc/ssl/private/scans.example.org.key", with: key)
    #expect(site.contains("underscores_in_headers on;") && site.contains(certificate))
    let whole = try Self.write(
      """
      pid \(folder.path)/pid;
      error_log \(folder.path)/error.log;
      events {}
      http { access_log off; include \(try Self.write(site, "site.conf", in: folder)); }
      """, "nginx.conf", in: folder)
    try OtherPrograms.run("nginx", ["-t", "-q", "-c", whole, "-e", "\(folder.path)/error.log"])
  }

  @Test("Caddy takes its configuration", .enabled(if: OtherPrograms.hasCaddy))
  func caddy() throws {
    let folder = try TemporaryFolder()
    let file = try Self.write(
      Self.file("Caddy, as `/etc/caddy/Caddyfile`."), "Caddyfile", in: folder)
    try OtherPrograms.run("caddy", ["validate", "--adapter", "caddyfile", "--config", file])
  }

  @Test("Samba takes its configuration", .enabled(if: OtherPrograms.hasTestparm))
  func samba() throws {
    let folder = try TemporaryFolder()
    let file = try Self.write(Self.file("### Samba"), "smb.conf", in: folder)
    let output = try OtherPrograms.run("testparm", ["-s", file])
    #expect(output.contains("Loaded services file OK.") && !output.contains("Unknown parameter"))
  }

  @Test("sshd takes its configuration", .enabled(if: OtherPrograms.hasSSHD))
  func sshd() throws {
    let folder = try TemporaryFolder()
    let key = folder.path.appending("key").string
    try OtherPrograms.run("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", key])
    let text = try Self.file("`/etc/ssh/sshd_config.d/scanmill.conf`:")
    let file = try Self.write("HostKey \(key)\n\(text)", "sshd.conf", in: folder)
    try OtherPrograms.run("/usr/sbin/sshd", ["-t", "-f", file])
  }

  @Test(
    "rsync through rrsync leaves nothing half, and its mark comes last",
    .enabled(if: OtherPrograms.hasRrsync))
  func rsync() throws {
    let folder = try TemporaryFolder()
    let staging = folder.path.appending("staging").string
    let source = folder.path.appending("scan-1").string
    for path in [staging, source] {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
    try Data(repeating: 7, count: 100_000).write(to: URL(filePath: source + "/scan-1.depth"))
    // In the place of ssh: what sshd does with the line of authorized_keys.
    let options = try #require(
      try Page.text("uploads.md").firstMatch(of: /command="rrsync (.*) \/srv\/scans\/incoming"/)?.1)
    let shell = try Self.write(
      "#!/bin/sh\nwhile [ \"$1\" != rsync ]; do shift; done\nSSH_ORIGINAL_COMMAND=\"$*\" SSH_CONNECTION='x 1 y 2' exec rrsync \(options) '\(staging)'\n",
      "shell", in: folder)
    try OtherPrograms.run("chmod", ["+x", shell])
    let recipe = try #require(
      try Page.blocks("sh", of: "uploads.md").first { $0.hasPrefix("rsync --recursive") })
    try OtherPrograms.run(
      "sh", ["-ec", "cd '\(folder.path)'; export RSYNC_RSH='\(shell)'\n\(recipe)"])
    let found = try FileManager.default.subpathsOfDirectory(atPath: staging).sorted()
      .filter { $0 != ".rsync-partial" }
    #expect(found == ["scan-1", "scan-1/.complete", "scan-1/scan-1.depth"])
    #expect(
      try FolderSignature(of: FilePath(staging).appending("scan-1")).isTransferring == false)
    #expect(UploadMark(of: FilePath(staging).appending("scan-1")).isComplete)
  }
}
