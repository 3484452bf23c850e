@testable import Core
@testable import Engine
import Testing

@testable import Stages

@Suite("What exports say of the world of the poses")
struct WorldTests {
  @Test(
    "Every format with poses says what is up, or that it is not known",
    arguments: [
      (PoseWorld.yUp, "(y up)", "y"), (.zUp, "(z up)", "z"), (.firstCamera, "is not known", nil),
    ] as [(PoseWorld, String, String?)])
  func everyFormat(world: PoseWorld, words: String, axis: String?) throws {
    var all = EveryFormat()
    all.setWorld(world)
    let others = ["(y up)", "(z up)", "has y up", "has z up", "z is up"].filter { $0 != words }
    for kind in EveryFormat.kinds {
      guard let written = try all.export(kind), written.readme.contains("The poses are") else {
        continue
      }
      // nerfstudio turns the world, KITTI's is the first camera's, and a bag has a second one.
      if world == .firstCamera {
        for other in others {
          #expect(!written.readme.contains(other), "\(kind.name) says \(other)")
        }
      }
      let hasOwn = kind == ExportNerfstudio.self || kind == ExportKITTI.self
      if !hasOwn || world == .firstCamera {
        #expect(written.readme.contains(words), "\(kind.name): \(written.readme)")
      }
    }
    let bag = try #require(try all.export(ExportMCAP.self))
    #expect(bag.manifest.contains("\"worldUp\"") == (axis != nil))
    if let axis { #expect(bag.manifest.contains("\"worldUp\" : \"\(axis)\"")) }
    #expect(bag.readme.contains("There is no map") == (axis == nil))
  }
}
