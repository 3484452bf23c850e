import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import Receiving

@Suite("Resumable uploads by the draft of the IETF", .runsPrograms)
struct DraftTests {
  private static let versions = [3, 5, 6, 8]

  private static var settings: ReceiverSettings {
    var settings = ReceiverSettings()
    settings.speaksDraft = true
    return settings
  }

  /// The field that says whether the body ends the file.
  private static func completeness(_ isComplete: Bool, _ version: Int) -> String {
    version < 5
      ? "Upload-Incomplete: \(isComplete ? "?0" : "?1")"
      : "Upload-Complete: \(isComplete ? "?1" : "?0")"
  }

  private static func request(
    _ method: String, _ path: String, _ version: Int?, _ fields: [String] = [], length: Int? = nil,
    body: String = ""
  ) -> String {
    var lines = ["\(method) \(path) HTTP/1.1", "Host: h"]
    if let version { lines.append("Upload-Draft-Interop-Version: \(version)") }
    lines += fields
    if method == "PATCH" { lines.append("Content-Type: application/partial-upload") }
    if let length { lines.append("Content-Length: \(length)") }
    return lines.joined(separator: "\r\n") + "\r\n\r\n" + body
  }

  /// Begins `name` and breaks the connection off after `body`; the place where it goes on.
  private static func begin(
    _ scene: ServerScene, _ name: String, _ version: Int, _ body: String, of length: Int
  ) throws -> String {
    let connection = try scene.connect()
    connection.send(
      request(
        "PUT", "/upload", version, ["FILE_NAME: \(name)", completeness(true, version)],
        length: length, body: body))
    let interim = try #require(connection.answer())
    #expect(interim.status == 104)
    #expect(interim.fields["upload-draft-interop-version"] == "\(version)")
    #expect((interim.fields["upload-limit"] != nil) == (version >= 6))
    let location = try #require(interim.fields["location"])
    #expect(location.hasPrefix("/resumable/"))
    // What has been sent arrives although the connection ends.
    connection.end()
    return location
  }

  private static func patch(
    _ scene: ServerScene, _ location: String, _ version: Int, at offset: Int, _ body: String,
    isComplete: Bool = true
  ) throws -> RawConnection.Answer? {
    try scene.ask(
      request(
        "PATCH", location, version,
        ["Upload-Offset: \(offset)", completeness(isComplete, version)], length: body.utf8.count,
        body: body))
  }

  @Test("What broke off goes on at its offset, in every iteration", arguments: versions)
  func resumed(version: Int) async throws {
    try await ServerScene.run(Self.settings) { scene in
      let location = try Self.begin(scene, "a.depth", version, "0123", of: 10)
      try Waiting.until("four bytes") {
        let head = try scene.ask(Self.request("HEAD", location, version))
        #expect(head?.status == 204 && head?.fields["cache-control"] == "no-store")
        #expect(
          head?.fields[version < 5 ? "upload-incomplete" : "upload-complete"]
            == (version < 5 ? "?1" : "?0"))
        return head?.fields["upload-offset"] == "4"
      }
      #expect(try scene.contents() == [:])
      let wrong = try Self.patch(scene, location, version, at: 3, "3456789")
      #expect(wrong?.status == 409 && wrong?.fields["upload-offset"] == "4")
      let piece = try Self.patch(scene, location, version, at: 4, "45", isComplete: false)
      #expect(piece?.status == 201 && piece?.fields["upload-offset"] == "6")
      let long = try Self.patch(scene, location, version, at: 6, "67890")
      #expect(long?.status == 400, "ten bytes were announced: \(String(describing: long))")
      let last = try #require(try Self.patch(scene, location, version, at: 6, "6789"))
      // The answer that the app is used to.
      #expect(last.status == 200 && last.message != nil)
      #expect(try scene.contents() == ["a/a.depth": "0123456789"])
      #expect(try scene.leftovers().isEmpty)
      let after = try scene.ask(Self.request("HEAD", location, version))
      #expect(after?.status == 204 && after?.fields["upload-offset"] == "10")
    }
  }

  @Test("Pieces of a file whose length nobody told, the last one says so", arguments: versions)
  func pieces(version: Int) async throws {
    try await ServerScene.run(Self.settings) { scene in
      let first = try scene.connect()
      first.send(
        Self.request(
          "PUT", "/captures/a/files/b.txt", version, [Self.completeness(false, version)],
          length: 3, body: "one"))
      let interim = try #require(first.answer())
      let location = try #require(interim.fields["location"])
      let open = try #require(first.answer())
      #expect(open.status == 201 && open.fields["upload-offset"] == "3")
      let second = try Self.patch(scene, location, version, at: 3, "two", isComplete: false)
      #expect(second?.status == 201 && second?.fields["upload-offset"] == "6")
      #expect(try scene.contents() == [:])
      let last = try #require(try Self.patch(scene, location, version, at: 6, "end"))
      #expect((200...201).contains(last.status))
      #expect(try scene.contents() == ["a/b.txt": "onetwoend"])
    }
  }

  @Test("Who gives up leaves nothing")
  func terminated() async throws {
    try await ServerScene.run(Self.settings) { scene in
      let location = try Self.begin(scene, "a.depth", 8, "0123", of: 10)
      #expect(try scene.ask(Self.request("DELETE", location, 8))?.status == 204)
      #expect(try scene.ask(Self.request("HEAD", location, 8))?.status == 404)
      #expect(try Self.patch(scene, location, 8, at: 4, "456789")?.status == 404)
      try scene.waitForNoLeftovers()
      #expect(try scene.contents() == [:])
    }
  }

  @Test("An iteration that is not spoken is refused with those that are", arguments: [nil, 4, 99])
  func otherVersions(version: Int?) async throws {
    try await ServerScene.run(Self.settings) { scene in
      let answer = try scene.ask(Self.request("HEAD", "/resumable/x", version))
      #expect(answer?.status == 400)
      let deleted = try scene.ask(Self.request("DELETE", "/resumable/x", version))
      #expect(deleted?.message?.contains("3, 5, 6, 8") == true)
    }
  }

  @Test(
    "Where the draft is not spoken a part is refused and never stored as the whole file",
    arguments: ["Upload-Complete: ?0", "Upload-Incomplete: ?1", "Upload-Offset: 4"])
  func withoutOption(field: String) async throws {
    try await ServerScene.run { scene in
      let answer = try scene.ask(
        Self.request("PUT", "/upload", 8, ["FILE_NAME: a.depth", field], length: 4, body: "0123"))
      #expect(answer?.status == 400)
      try scene.waitForNoLeftovers()
      #expect(try scene.contents() == [:])
    }
  }
}
