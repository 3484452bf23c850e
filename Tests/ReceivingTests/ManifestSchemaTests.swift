@testable import Captures
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Receiving

@Suite("What is written about uploads", .runsPrograms)
struct ManifestSchemaTests {
  @Test func theSchemaNamesExactlyTheKeysOfAManifest() throws {
    let scene = try StoreScene()
    try scene.send("s.imu", "x")
    let written = try scene.folder.bytes(of: "staging/s/.upload.json")
    let manifest = try Data(written).json()
    let file = Fixtures.projectRoot.appending("docs/schemas/upload.json").string
    let schema = try Data(contentsOf: URL(filePath: file)).json()
    func keys(_ node: Any?) -> Set<String> {
      Set(((node as? [String: Any])?["properties"] as? [String: Any] ?? [:]).keys)
    }
    #expect(keys(schema) == Set(manifest.keys))
    let properties = schema["properties"] as? [String: Any]
    let files = (properties?["files"] as? [String: Any])?["items"]
    let first = (manifest["files"] as? [[String: Any]])?.first ?? [:]
    #expect(keys(files) == Set(first.keys))
    #expect(manifest["missing"] as? [String] == ["s.txt", "s.depth", "s.h264", "s.camera"])
  }

  /// States of a watcher for every folder.
  private struct Watched: CaptureStates {
    func states(of folders: [String]) -> [String: WatchedState] {
      Dictionary(
        folders.map { ($0, WatchedState(state: "failed", note: "why", hasReport: true)) },
        uniquingKeysWith: { first, _ in first })
    }

    func report(of folder: String) -> [UInt8]? { nil }
  }

  /// Where a value and its schema differ: keys without a description, required keys that are absent, other kinds.
  private static func differences(_ value: Any, _ schema: [String: Any], _ place: String)
    -> [String]
  {
    var found: [String] = []
    switch schema["type"] as? String {
    case "object":
      guard let object = value as? [String: Any] else { return ["\(place) is no object"] }
      let properties = schema["properties"] as? [String: Any] ?? [:]
      for key in schema["required"] as? [String] ?? [] where object[key] == nil {
        found.append("\(place).\(key) is absent")
      }
      for (key, inner) in object {
        guard let known = properties[key] as? [String: Any] else {
          found.append("\(place).\(key) is not described")
          continue
        }
        found += differences(inner, known, "\(place).\(key)")
      }
    case "array":
      guard let list = value as? [Any], let items = schema["items"] as? [String: Any] else {
        return ["\(place) is no list"]
      }
      for (index, item) in list.enumerated() {
        found += differences(item, items, "\(place)[\(index)]")
      }
    case "string":
      guard let text = value as? String else { return ["\(place) is no text"] }
      if let words = schema["enum"] as? [String], !words.contains(text) {
        found.append("\(place) is \(text)")
      }
      if let pattern = schema["pattern"] as? String,
        text.range(of: pattern, options: .regularExpression) == nil
      {
        found.append("\(place) is \(text)")
      }
    default:
      if !(value is NSNumber) { found.append("\(place) is no number") }
    }
    return found
  }

  /// Keys that are in a value anywhere, as paths.
  private static func keys(_ value: Any, _ place: String = "") -> Set<String> {
    if let list = value as? [Any] { return list.reduce(into: []) { $0.formUnion(keys($1, place)) } }
    guard let object = value as? [String: Any] else { return [] }
    return object.reduce(into: []) { all, entry in
      all.insert("\(place).\(entry.key)")
      all.formUnion(keys(entry.value, "\(place).\(entry.key)"))
    }
  }

  private static func keys(ofSchema schema: [String: Any], _ place: String = "") -> Set<String> {
    let inner = (schema["items"] as? [String: Any]) ?? schema
    return (inner["properties"] as? [String: Any] ?? [:]).reduce(into: []) { all, entry in
      all.insert("\(place).\(entry.key)")
      all.formUnion(
        keys(ofSchema: entry.value as? [String: Any] ?? [:], "\(place).\(entry.key)"))
    }
  }

  @Test func theSchemaOfTheAnswerAboutCapturesDescribesARealAnswer() async throws {
    let file = Fixtures.projectRoot.appending("docs/schemas/receive-captures.json").string
    let bytes = try Data(contentsOf: URL(filePath: file))
    try await ServerScene.run(states: Watched()) { scene in
      let schema = try bytes.json()
      for ending in ["txt", "depth", "h264", "imu", "camera"] {
        #expect(try scene.ask(ServerScene.upload("a.\(ending)", "1"))?.status == 200)
      }
      #expect(try scene.ask("GET /process/a HTTP/1.1\r\nHost: h\r\n\r\n")?.status == 200)
      #expect(try scene.ask(ServerScene.upload("b.imu", "1"))?.status == 200)
      let sending = try RawConnection(port: scene.port)
      sending.send(
        "PUT /upload HTTP/1.1\r\nHost: h\r\nFILE_NAME: b.depth\r\nContent-Length: 9\r\n\r\n123")
      func answer(_ path: String) throws -> Any {
        let got = try #require(try scene.ask("GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n"))
        return try JSONSerialization.jsonObject(with: Data(got.body.utf8))
      }
      // A rate is told once half a second has gone.
      try Waiting.until("a rate") {
        Self.keys(try answer("/captures")).contains(".captures.arriving.bytesPerSecond")
      }
      let whole = try answer("/captures")
      #expect(Self.differences(whole, schema, "") == [])
      #expect(Self.keys(whole) == Self.keys(ofSchema: schema))
      let captures = (schema["properties"] as? [String: Any])?["captures"] as? [String: Any]
      let one = try #require(captures).object("items")
      #expect(Self.differences(try answer("/captures/a"), one, "") == [])
      sending.end()
    }
  }
}
