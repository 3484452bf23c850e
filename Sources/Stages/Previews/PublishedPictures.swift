import Media
import Core
import Engine
import Processing
import Synchronization
import SystemPackage

/// Published pictures of a capture, which are read when displayed.
struct PublishedPictures: Sendable {
  private let colors: PublishedPictureFiles?
  private let depths: PublishedPictureFiles?
  private let isAligned: Bool
  private let depthWidth: Int?
  private let firstProblem = ProblemBox()

  /// Frames with all kinds of pictures; if there are none, frames with any.
  let frames: [Int]

  /// - Parameters:
  ///   - inputs: artifacts by name (`color`, `aligned` and `depth`); each may be missing.
  ///   - depthWidth: number of columns of the depth camera.
  init(_ inputs: [String: InputArtifact], depthWidth: Int?) {
    func files(_ port: String) -> PublishedPictureFiles? {
      inputs[port].map { PublishedPictureFiles($0) }.flatMap { $0.frames.isEmpty ? nil : $0 }
    }
    let aligned = files("aligned")
    let (colors, depths) = (files("color"), aligned ?? files("depth"))
    (self.colors, self.depths, isAligned) = (colors, depths, aligned != nil)
    self.depthWidth = depthWidth
    let common = colors?.frames.filter { depths?[$0] != nil } ?? []
    frames = common.isEmpty ? (depths ?? colors)?.frames ?? [] : common
  }

  var hasColor: Bool { colors != nil }
  var hasDepth: Bool { depths != nil }

  /// The error of the first unreadable picture.
  var problem: ImageError? { firstProblem.value }

  /// `nil` if nothing of the frame can be read.
  func shown(_ frame: Int, most: (width: Int, height: Int)) -> ShownFrame? {
    let color = colors.flatMap { colors in read(colors[frame]) { try colors.look($0) } }
    let depth = read(depths?[frame]) { try PNGReader.depth(at: $0) }
    if color == nil, depth == nil { return nil }
    return ShownFrame(
      color: color, aligned: isAligned ? depth : nil, depth: isAligned ? nil : depth,
      depthWidth: depthWidth, most: most)
  }

  /// Reads a picture. Links in an output may lead to files of others and are not followed.
  private func read<Picture>(
    _ file: FilePath?, _ body: (FilePath) throws -> Picture
  ) -> Picture? {
    guard let file else { return nil }
    do {
      guard !FileSystem.isLink(file) else { throw ImageError(file: file, what: "is a link") }
      return try body(file)
    } catch {
      firstProblem.note(error as? ImageError ?? ImageError(file: file, what: "\(error)"))
      return nil
    }
  }

  private final class ProblemBox: Sendable {
    private let first = Mutex<ImageError?>(nil)
    var value: ImageError? { first.withLock { $0 } }
    func note(_ error: ImageError) { first.withLock { $0 = $0 ?? error } }
  }
}
