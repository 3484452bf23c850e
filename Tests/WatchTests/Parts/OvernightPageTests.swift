import Core
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Engine
@testable import Watch

@Suite("The page about running for months")
struct OvernightPageTests {
  private typealias Page = DocumentedPage

  private static func names(in folder: String) -> [String] {
    ((try? FileSystem.names(in: Page.docs.appending(folder)))
      ?? [])
      .map { "\(folder)/\($0)" }.sorted()
  }

  /// What people copy and change. Units are installed, and stay as they are.
  static let files = ["systemd/lab.conf"] + names(in: "notify") + names(in: "monitoring")
  static let units = names(in: "systemd").filter { $0.contains("@.") }
  static let services = units.filter { $0.hasSuffix(".service") }
  static let scripts = files.filter { $0.hasPrefix("notify/") }

  @Test("knows every state, every cause and every option")
  func words() throws {
    let page = try Page.text("overnight.md")
    for state in CaptureState.allCases { #expect(page.contains("`\(state.rawValue)`")) }
    for cause in FailureCause.allCases { #expect(page.contains("* `\(cause.rawValue)`: ")) }
    for option in [
      "once", "settle", "poll", "patience", "upload-timeout", "between", "attempts", "retry-after",
      "nice",
      "report-at", "notify", "metrics", "reserve",
    ] {
      #expect(page.contains("\n| `--\(option)` |"), "\(option)")
    }
  }

  // MARK: systemd

  @Test(
    "Every variable of the units is in the file of a lab, and no other one", arguments: services)
  func environment(unit: String) throws {
    let set = try Page.text("systemd/lab.conf").lines.filter { !$0.hasPrefix("#") }
      .compactMap { $0.split(separator: "=", maxSplits: 1).first.map(String.init) }
    #expect(set == ["STAGING", "OUTPUT", "WATCH_OPTIONS", "RECEIVE_OPTIONS"])
    let start = try #require(try Page.value("ExecStart", unit))
    let used = start.matches(of: /\$\{?([A-Z_]+)/).map { String($0.output.1) }
    #expect(used.contains("OUTPUT") && Set(used).isSubset(of: set))
    // One folder is one word, whatever blanks are in it; options are as many words as there are.
    for name in used {
      #expect(start.contains(name.hasSuffix("OPTIONS") ? "$\(name)" : "${\(name)}"))
    }
  }

  @Test("The watcher is waited for longer than its stages are")
  func grace() throws {
    let unit = "systemd/scanmill-watch@.service"
    for (key, value) in [
      ("Type", "notify"), ("KillMode", "mixed"), ("OOMPolicy", "continue"),
      ("ExecReload", "/bin/kill -HUP $MAINPID"),
    ] {
      #expect(try Page.value(key, unit) == value, "\(key)")
    }
    let start = try #require(try Page.value("ExecStart", unit)).split(separator: " ")
    let grace = try #require(start.firstIndex(of: "--grace").map { start[$0 + 1] })
    let stop = try #require(try Page.value("TimeoutStopSec", unit))
    let stopNanoseconds = try #require(DurationSyntax.nanoseconds(stop))
    #expect(stopNanoseconds > DurationSyntax.nanoseconds(String(grace)) ?? .max)
    #expect(try Page.value("WatchdogSec", unit) != nil)
  }

  @Test(
    "systemd finds nothing to say about the units", .enabled(if: OtherPrograms.hasSystemdAnalyze))
  func verify() throws {
    let folder = try TemporaryFolder()
    for unit in Self.units {
      // The program need not be installed for that.
      let text = try Page.text(unit).replacing("/usr/bin/scanmill", with: "/bin/true")
      let name = try #require(FilePath(unit).lastComponent?.string)
      try folder.path.appending(name).write(text)
    }
    let names = Self.units.compactMap {
      FilePath($0).lastComponent.map { folder.path.appending($0).string }
    }
    #expect(try OtherPrograms.run("systemd-analyze", ["verify", "--man=no"] + names) == "")
  }

  @Test(
    "systemd calls what the services may do little", .enabled(if: OtherPrograms.hasSystemdAnalyze),
    arguments: services)
  func security(unit: String) throws {
    // The exposure is one of 100; from 50 on it would be "medium", above 20 a directive has been opened.
    let output = try OtherPrograms.run(
      "systemd-analyze",
      [
        "security", "--offline=true", "--threshold=20", "--no-pager",
        Page.docs.appending(unit).string,
      ])
    #expect(output.contains(" OK "))
  }

  // MARK: Alerts

  @Test("Every number that an alert asks for is one that is told")
  func alertNames() throws {
    let rules = try Page.text("monitoring/scanmill.rules.yml")
    let names = rules.matches(of: /scanmill_[a-z_]+/).map { String($0.output) }
    let told = NightMetrics(lookTimestampSeconds: 0, version: "").text
    #expect(names.count > 6)
    for name in names { #expect(told.contains("# TYPE \(name) "), "\(name)") }
  }

  @Test("Alerts fire when they should and not before", .enabled(if: OtherPrograms.hasPromtool))
  func firing() throws {
    let folder = try TemporaryFolder()
    let file = folder.path.appending("test.yml")
    // Time begins at 0. A capture is done after an hour and never again; looks go on; the disk fills.
    try file.write(
      """
      rule_files: ["\(Page.docs)/monitoring/scanmill.rules.yml"]
      evaluation_interval: 5m
      tests:
        - interval: 5m
          input_series:
            - series: 'scanmill_look_timestamp_seconds{instance="a"}'
              values: '0+300x400'
            - series: 'scanmill_done_timestamp_seconds{instance="a"}'
              values: '3600x400'
            - series: 'scanmill_output_free_bytes{instance="a"}'
              values: '100-1x96 4x300'
            - series: 'node_filesystem_size_bytes{instance="a",mountpoint="/srv/scans/results"}'
              values: '100x400'
          alert_rule_test:
            - {alertname: ScanmillNothingFinished, eval_time: 26h}
            - alertname: ScanmillNothingFinished
              eval_time: 28h
              exp_alerts:
                - exp_labels: {severity: page, instance: a}
                  exp_annotations: {summary: No capture was finished for 26 hours.}
            - {alertname: ScanmillDoesNotLook, eval_time: 28h}
            - {alertname: ScanmillSaysNothing, eval_time: 28h}
            - {alertname: ScanmillDiskNearlyFull, eval_time: 4h}
            - alertname: ScanmillDiskNearlyFull
              eval_time: 9h
              exp_alerts:
                - exp_labels: {severity: page, instance: a}
                  exp_annotations: {summary: Less than 5 % of the disk with the results is free.}
        - interval: 5m
          input_series:
            - series: 'up{instance="a"}'
              values: '1x20'
          alert_rule_test:
            - alertname: ScanmillSaysNothing
              eval_time: 30m
              exp_alerts:
                - exp_labels: {severity: page}
                  exp_annotations: {summary: There are no metrics of the watcher.}
      """)
    try OtherPrograms.run("promtool", ["test", "rules", file.string])
  }

  @Test("shows the file of a lab as it is")
  func lab() throws {
    let shown = "```ini\n\(try Page.text("systemd/lab.conf"))```\n"
    #expect(try Page.text("overnight.md").contains(shown))
  }

  // MARK: Examples of --notify

  private static let report = #"""
    {"schema":1,"totals":{"captures":44,"ready":41,
    "needsPerson":2},"captures":[
    {"id":"a`b<!channel>","state":"failed","needsPerson":true,
    "reasons":[{"code":"failed","text":"cut\nTo: <!all>`x@y","remedy":"Copy it again."}]},
    {"id":"scan-2","state":"incomplete","needsPerson":true,
    "reasons":[{"code":"incomplete","text":"no video, no IMU"}]},
    {"id":"fine","state":"done","needsPerson":false,"reasons":[]}]}
    """#

  @Test(
    "The examples tell what happened, and names in it do nothing else",
    .enabled(if: OtherPrograms.hasJQ),
    arguments: [
      (
        "mail",
        [
          "[--mail-rcpt][lab@example.org]",
          "Subject: scanmill: 41 of 44 captures are ready, 2 need you\n",
          "a`b<!channel>: failed\n  cut To: <!all>`x@y\n  Copy it again.\n",
          "scan-2: incomplete\n  no video, no IMU\n",
          "\n/srv/results/index.html\n",
        ]
      ),
      (
        "ntfy",
        [
          "[Title: scanmill: 41 of 44 captures are ready, 2 need you]", "[Priority: high]",
          "scan-2: no video, no IMU\n",
        ]
      ),
      (
        "chat",
        [
          #""text": "41 of 44 captures are ready, 2 need you\n`a-b-!channel-` `cut-To: -!all-x@y`"#,
          #"\n`scan-2` `no video, no IMU`""#,
        ]
      ),
    ])
  func notify(name: String, expected: [String]) throws {
    let folder = try TemporaryFolder()
    let curl = folder.path.appending("curl").string
    try ShellScript.write(
      "#!/bin/sh\nprintf '[%s]' \"$@\"\necho\ncat\n", to: FilePath(curl))
    let report = folder.path.appending("report.json").string
    try Data(Self.report.utf8).write(to: URL(filePath: report))
    let output = try OtherPrograms.run(
      "sh",
      [
        "-c", "PATH=\"$1:$PATH\" SCANMILL_PAGE=/srv/results/index.html sh \"$2\" < \"$3\"", "sh",
        folder.path.string, Page.docs.appending("notify/\(name).sh").string, report,
      ])
    for text in expected { #expect(output.contains(text), "\(output)") }
    #expect(!output.contains("fine"))
    // Nothing that may be a secret is on a command line.
    #expect(output.contains("[--config][/etc/scanmill/\(name).curl]"))
    #expect(!output.contains("http"))
  }
}

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

/// Pages of `docs/` and the files beside them.
enum DocumentedPage {
  static let docs = Fixtures.projectRoot.appending("docs")

  static func text(_ path: String) throws -> String { try docs.appending(path).text() }

  /// Blocks of code of one language.
  static func blocks(_ language: String, of page: String) throws -> [String] {
    try text(page).components(separatedBy: "```").enumerated().filter {
      $0.offset % 2 == 1 && $0.element.hasPrefix("\(language)\n")
    }.map { String($0.element.dropFirst(language.count + 1)) }
  }

  /// The value of a key of a unit of systemd, continued lines joined.
  static func value(_ key: String, _ unit: String) throws -> String? {
    try text(unit).replacing("\\\n", with: " ").lines
      .first { $0.hasPrefix("\(key)=") }.map { String($0.dropFirst(key.count + 1)) }
  }
}

@Suite("Pages with commands")
struct DocumentedPageTests {
  @Test("Every block for a shell is one", arguments: [("overnight.md", 10), ("uploads.md", 7)])
  func shell(page: String, least: Int) throws {
    let folder = try TemporaryFolder()
    let blocks = try DocumentedPage.blocks("sh", of: page)
    #expect(blocks.count > least)
    for (index, block) in blocks.enumerated() {
      let file = folder.path.appending("\(index).sh")
      try file.write(block)
      try OtherPrograms.run("sh", ["-n", file.string])
    }
  }
}
