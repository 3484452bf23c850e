@testable import Core
import Testing

@testable import Receiving

@Suite("Uploads that can be resumed")
struct ResumableTests {
  @Test func whatTheDiskHoldsCountsAfterANewStart() throws {
    let scene = try StoreScene()
    let upload = try scene.begin("a.imu", length: 6, resumable: true)
    try upload.append(Array("abcd".utf8))
    // Not suspended: the process is gone.
    try scene.restart()
    #expect(scene.store.resumable(upload.id)?.received == 4)
    let again = try scene.store.resume(upload.id)
    try again.append(Array("ef".utf8))
    #expect(try again.finish().sha256 == Digest(of: "abcdef").hex)
    #expect(try scene.contents() == ["a/a.imu": "abcdef"])
  }

  @Test func oneThatNobodyResumesIsRemoved() throws {
    var limits = StoreScene.limits
    limits.resumableLifetime = 0
    let scene = try StoreScene(limits: limits)
    let upload = try scene.begin("a.imu", length: 6, resumable: true)
    try upload.suspend()
    scene.store.removeExpired()
    #expect(scene.store.resumable(upload.id) == nil)
    #expect(try scene.leftovers() == [])
  }
}
