@testable import Captures
import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import Receiving

@Suite("curl and nginx, programs of other people", .runsPrograms)
struct ForeignClientTests {
  private enum Foreign {
    static let curl = find("curl")
    static let nginx = find("nginx")

    /// `nil`: absent, which is printed once.
    private static func find(_ name: String) -> String? {
      if ForeignPrograms.areLeftOut { return nil }
      let found = ["/usr/bin", "/usr/sbin", "/usr/local/bin"].map { "\($0)/\(name)" }
        .first { FileManager.default.isExecutableFile(atPath: $0) }
      if found == nil {
        print("skipped: \(name) is absent (make setup-test): uploads are not tried with it")
      }
      return found
    }
  }

  private let folder: TemporaryFolder
  private let staging: FilePath

  init() throws {
    folder = try TemporaryFolder()
    staging = folder.path.appending("s")
  }

  /// Status and body of the answer; what curl says if there is none.
  private func curl(_ words: [String]) throws -> (status: Int?, body: String, errors: String) {
    let program = try #require(Foreign.curl)
    let result = try Running(
      FilePath(program),
      ["--silent", "--show-error", "--max-time", "300", "--write-out", "\n%{http_code}"] + words
    ).finish()
    let lines = result.output.split(separator: "\n", omittingEmptySubsequences: false)
    return (
      lines.last.flatMap { Int($0) }, lines.dropLast().joined(separator: "\n"), result.errors
    )
  }

  /// A file of more than a megabyte: curl then asks with `Expect: 100-continue` whether it may send it.
  private func large() throws -> (path: String, bytes: [UInt8]) {
    var generator = SeededGenerator(seed: 26)
    let bytes = (0..<3_000_001).map { _ in UInt8.random(in: 0...255, using: &generator) }
    return (try folder.write(bytes, to: "large").string, bytes)
  }

  private static func md5(_ bytes: [UInt8]) -> String {
    let digest = MessageDigest(.md5)
    bytes.withUnsafeBytes { digest.update($0) }
    return digest.finalizeHex()
  }

  /// Uploads, compares, sends again, and is refused; `at` is what stands in front of the path.
  private func exchange(_ at: String, _ options: [String]) throws {
    let (file, bytes) = try large()
    let upload = options + ["--upload-file", file, "--header"]
    for (more, name) in [
      ([String](), "a.depth"), (["--header", "Transfer-Encoding: chunked"], "b.depth"),
    ] {
      let sent = try curl(upload + ["FILE_NAME: \(name)"] + more + ["\(at)/upload"])
      #expect(sent.status == 200 && sent.body == #"{"message":"ok"}"#, "\(sent)")
      let stored = staging.appending("\(name.prefix(1))/\(name)").string
      #expect(FileManager.default.contents(atPath: stored) == Data(bytes), "\(name)")
      let question = "filename=\(name)&checksum=\(Self.md5(bytes))"
      #expect(try curl(options + ["\(at)/verify?\(question)"]).status == 200)
    }
    let again = try curl(upload + ["FILE_NAME: a.depth", "\(at)/upload"])
    #expect(again.status == 200 && again.body.contains("already exists"), "\(again)")
    // An early refusal reaches a client that has much to send.
    for (field, status) in [("FILE_NAME: a.exe", 415), ("FILE_NAME: ../a.imu", 400)] {
      let refused = try curl(upload + [field, "--header", "Expect:", "\(at)/upload"])
      #expect(refused.status == status && refused.body.contains("message"), "\(refused)")
    }
    let manifest = UploadManifest(in: try HeldFolder(reading: staging.appending("a")))
    #expect(manifest?.files.map(\.state) == [.verified])
  }

  @Test("curl uploads, with a length and without", .enabled(if: Foreign.curl != nil))
  func direct() throws {
    let receiver = try ReceiverProgram(staging)
    try exchange("http://127.0.0.1:\(receiver.port)", [])
    receiver.running.process.terminate()
    #expect(try receiver.running.finish().status == 143)
  }

  /// The configuration of the documentation, on a socket of its own in place of ports.
  private func configuration(port: Int, socket: String, passesUnderscores: Bool) throws -> String {
    let page = try Fixtures.projectRoot.appending("docs/uploads.md").text()
    let start = try #require(page.range(of: "```nginx\n"))
    let end = try #require(page.range(of: "```", range: start.upperBound..<page.endIndex))
    var lines = page[start.upperBound..<end.lowerBound].components(separatedBy: "\n")
    #expect(lines.contains("underscores_in_headers on;"))
    lines.removeAll {
      $0.contains("listen 443") || $0.contains("ssl_")
        || !passesUnderscores && $0 == "underscores_in_headers on;"
    }
    let text = lines.joined(separator: "\n").replacing("listen 80;", with: "listen unix:\(socket);")
      .replacing("127.0.0.1:8000", with: "127.0.0.1:\(port)")
    let own = folder.path.string
    return """
      daemon off;
      master_process off;
      pid \(own)/nginx.pid;
      error_log stderr;
      events {}
      http {
        access_log off;
        client_body_temp_path \(own)/body;
        proxy_temp_path \(own)/proxy;
        fastcgi_temp_path \(own)/fastcgi;
        uwsgi_temp_path \(own)/uwsgi;
        scgi_temp_path \(own)/scgi;
        \(text)
      }
      """
  }

  @Test(
    "nginx with the configuration of the documentation hands on what curl sends; without its line on underscores no upload has a name",
    .enabled(if: Foreign.curl != nil && Foreign.nginx != nil))
  func proxy() throws {
    let receiver = try ReceiverProgram(staging)
    for passesUnderscores in [true, false] {
      let socket = folder.path.appending("nginx-\(passesUnderscores).sock").string
      let file = try folder.write(
        Array(
          try configuration(
            port: receiver.port, socket: socket, passesUnderscores: passesUnderscores
          ).utf8), to: "nginx.conf")
      let nginx = try Running(
        FilePath(try #require(Foreign.nginx)), ["-c", file.string, "-e", "stderr"])
      defer { nginx.process.terminate() }
      Waiting.until("nginx") {
        FileManager.default.fileExists(atPath: socket) || !nginx.process.isRunning
      }
      let errors = try nginx.errorsSoFar()
      #expect(nginx.process.isRunning, "\(errors)")
      let options = ["--unix-socket", socket]
      if passesUnderscores {
        try exchange("http://h", options)
      } else {
        let answer = try curl(
          options + [
            "--upload-file", file.string, "--header", "FILE_NAME: c.txt", "http://h/upload",
          ])
        #expect(answer.status == 400 && answer.body.contains("FILE_NAME"), "\(answer)")
      }
    }
    receiver.running.process.terminate()
    #expect(try receiver.running.finish().status == 143)
  }
}
