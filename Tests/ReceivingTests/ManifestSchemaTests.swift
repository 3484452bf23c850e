import Captures
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Receiving

@Suite("What is written about uploads")
struct ManifestSchemaTests {
  @Test func theSchemaNamesExactlyTheKeysOfAManifest() throws {
    let scene = try StoreScene()
    try scene.send("s.imu", "x")
    let written = try scene.folder.bytes(of: "staging/s/.upload.json")
    let manifest = try #require(
      try JSONSerialization.jsonObject(with: Data(written)) as? [String: Any])
    let file = Fixtures.projectRoot.appending("docs/schemas/upload.json").string
    let schema = try #require(
      try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: file)))
        as? [String: Any])
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
}
