import Foundation
@testable import Engine
import SystemPackage
import TestSupport
import Testing

@testable import Watch

@Suite("The page about running for months")
struct OvernightPageTests {
  private typealias Page = DocumentedPage

  private static func names(in folder: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: Page.docs.appending(folder).string))
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
    let told = MetricsText(NightMetrics(lookTimestampSeconds: 0, version: "")).text
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
