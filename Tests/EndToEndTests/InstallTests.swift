import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Installing", .runsPrograms)
struct InstallTests {
  private static func script(_ name: String, _ words: [String]) throws -> Program.Result {
    try Running(Fixtures.projectRoot.appending(".packaging").appending(name), words, in: nil)
      .finish()
  }

  @Test("What is installed lies below DESTDIR and PREFIX, is readable for all, and goes again")
  func tree() throws {
    let place = try TemporaryFolder()
    let staged = try Self.script(
      "stage.sh", [Program.path.string, "/opt/mill", place.path.string])
    #expect(staged.status == 0 && staged.errors.isEmpty, "\(staged.errors)")
    let root = place.path.appending("opt/mill")
    for name in [
      "bin/scanmill", "share/man/man1/scanmill.1.gz", "share/man/man1/scanmill-run.1.gz",
      "share/bash-completion/completions/scanmill", "share/zsh/site-functions/_scanmill",
      "share/fish/vendor_completions.d/scanmill.fish", "share/doc/scanmill/README.md",
      "share/doc/scanmill/LICENSE", "share/doc/scanmill/docs/install.md",
      "share/doc/scanmill/pipelines/default.yaml", "share/doc/scanmill/docs/notify/mail.sh",
      "share/scanmill/sample-data/README.md", "lib/systemd/system/scanmill-watch@.service",
      "lib/systemd/system/scanmill-receive@.socket",
      "share/doc/scanmill/docs/systemd/lab.conf",
    ] {
      let path = root.appending(name).string
      let mode = try #require(
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int, "\(name)"
      )
      let isProgram = name.hasPrefix("bin/") || name.hasSuffix(".sh")
      #expect(mode == (isProgram ? 0o755 : 0o644), "\(name)")
    }
    // Every unit starts the program that is installed with it.
    let units = root.appending("lib/systemd/system")
    let services = try FileSystem.names(in: units).filter { $0.hasSuffix(".service") }
    #expect(services.count == 4, "\(services)")
    for name in services {
      let text = try units.appending(name).text()
      let starts = text.lines.filter { $0.hasPrefix("ExecStart=") }
      #expect(!starts.isEmpty, "\(name)")
      for start in starts {
        #expect(start.hasPrefix("ExecStart=/opt/mill/bin/scanmill "), "\(start)")
      }
    }
    let sample = root.appending("share/scanmill/sample-data").string
    let inspected = try Program.run("inspect \(sample) --quick --json").json()
    #expect((inspected["captures"] as? [Any])?.count == 5)

    try Self.script("unstage.sh", ["/opt/mill", place.path.string]).succeeds()
    let left = try root.namesBelow()
    #expect(!left.contains { $0.contains("scanmill") }, "\(left)")
  }

  @Test("The version of packages is the program's own")
  func version() throws {
    let first = try Program.run(["--version"]).output.lines.first.map(String.init)
    let script = try Self.script("version.sh", []).output
    #expect(script.trimmingCharacters(in: .whitespacesAndNewlines) == first)
  }

  @Test("Version, commit, compiler, libraries and processor are told, the version alone on a line")
  func page() throws {
    let lines = try Program.run(["--version"]).output.lines
    #expect(lines.first.map { $0.allSatisfy { $0.isNumber || $0 == "." } } == true)
    for name in [
      "commit", "Swift", "libavcodec", "libavformat", "libavutil", "libswscale", "libpng", "zlib",
      "libdeflate", "zimg", "libhdf5", "processor",
    ] {
      #expect(lines.count { $0.hasPrefix(name + " ") } == 1, "\(name)")
    }
  }

  @Test("The version is told without FFmpeg, and says so")
  func noFFmpeg() throws {
    let place = try TemporaryFolder()
    for line in try Program.run(["--version"]).output.lines {
      let words = line.split(separator: " ")
      guard words.count == 2, words[0].hasPrefix("libav") || words[0] == "libswscale" else {
        continue
      }
      let name = "\(words[0]).so.\(words[1].prefix { $0 != "." })"
      try OutputFile.write(Array("no library".utf8), to: place.path.appending(name))
    }
    let environment = ProcessInfo.processInfo.environment.merging(
      ["LD_LIBRARY_PATH": place.path.string]
    ) { $1 }
    let result = try Program.run(["--version"], environment: environment).succeeds()
    #expect(result.output.contains("\nlibavcodec not installed\n"), "\(result.output)")
  }

  @Test("The notes of a release are the newest section of the changelog; the archive is the commit")
  func sources() throws {
    guard FileSystem.exists(Fixtures.projectRoot.appending(".git"))
    else {
      print("skipped: no repository here: no archive of the sources is made")
      return
    }
    let place = try TemporaryFolder()
    let made = try Self.script("sources.sh", [place.path.string]).succeeds()
    let files = made.output.lines.map(String.init)
    let archive = try #require(files.first { $0.hasSuffix(".tar.gz") })
    let notes = try #require(files.first { $0.hasSuffix(".md") })
    let text = try FilePath(notes).text()
    #expect(text.hasPrefix("## "))
    #expect(text.lines.count { $0.hasPrefix("## ") } == 1)
    let list = try Running("/usr/bin/env", ["tar", "-tf", archive], in: nil).finish().output
    let names = Set(list.lines.map(String.init))
    let stem = String(archive.split(separator: "/").last?.dropLast(".tar.gz".count) ?? "")
    #expect(names.contains("\(stem)/Package.swift"))
  }
}
