@testable import Core
import Synchronization
import TestSupport
import Testing

@testable import Synthetic

@Suite("The loops over pixels")
struct PixelLoopsTests {
  /// How a picture is taken.
  struct Shot: Sendable, CustomTestStringConvertible {
    var name: String
    var width = 131
    var height = 97
    var exposure = 1.0 / 60
    var noise = 1.2

    var testDescription: String { name }
  }

  private func pictures(_ shot: Shot, isWide: Bool) -> [ColorImage] {
    let camera = PinholeCamera(
      width: shot.width, height: shot.height, fx: 100, fy: 101, cx: Double(shot.width) / 2 - 0.3,
      cy: Double(shot.height) / 2 + 0.4)
    let room = Room.made(seed: 9, isFurnished: true)
    let motion = CameraMotion(seed: 9, center: Room.cameraCenter, reach: Room.cameraReach)
    var renderer = ColorRenderer(
      room: room, camera: camera,
      settings: PictureSettings(exposureSeconds: shot.exposure, noiseSteps: shot.noise), seed: 9,
      isWide: isWide)
    return (0..<12).map { renderer.render(frame: $0, state: motion.state(at: Double($0) * 1.7)) }
  }

  @Test(
    "Wide vectors give the bytes of narrow ones, on machines that have them",
    arguments: [
      Shot(name: "as families take pictures"),
      Shot(name: "sharp, without noise", exposure: 0, noise: 0),
      Shot(name: "paths beyond the borders", exposure: 0.5),
      Shot(name: "fewer pixels than a group", width: 7, height: 3, exposure: 0.1),
      Shot(name: "one pixel more than a piece", width: 129, height: 9, exposure: 0.1),
    ])
  func wide(_ shot: Shot) {
    let narrow = pictures(shot, isWide: false)
    // Where there are no wide vectors both are narrow: then only that a picture can be repeated is seen.
    #expect(pictures(shot, isWide: PixelLoops.hasWide) == narrow)
    // A scene that is not there would be equal, too.
    #expect(Set(narrow.flatMap(\.rgb)).count > 8)
  }

  @Test("Whoever asks is told of every frame once", arguments: SyntheticFamilies.names)
  func progress(_ family: String) throws {
    let folder = try TemporaryFolder()
    var options = SynthesisOptions(output: folder.path)
    options.frames = 5
    options.width = 64
    options.height = 48
    options.truthPictures = 0
    let steps = Steps()
    options.progress = { steps.add($0, $1) }
    _ = try SyntheticFamilies.write(family, options)
    #expect(steps.all == (1...5).map { [$0, 5] })
  }
}

/// What a command was told of its progress.
private final class Steps: Sendable {
  private let steps = Mutex<[[Int]]>([])

  var all: [[Int]] { steps.withLock { $0 } }

  func add(_ done: Int, _ all: Int) { steps.withLock { $0.append([done, all]) } }
}
