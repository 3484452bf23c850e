import Captures
import Engine
import Processing

/// What is known about the pictures of an export before any is made.
package struct FrameOutlook: Sendable {
  /// Color pictures.
  package struct Pictures: Sendable {
    /// Frames with a picture, counted when the capture was opened.
    package let counted: Set<Int>
    /// The frames among these that the color stage makes.
    let selection: FrameSelection

    package func has(_ frame: Int) -> Bool {
      counted.contains(frame) && selection.contains(frame)
    }

    func isSkipped(_ frame: Int) -> Bool {
      counted.contains(frame) && !selection.contains(frame)
    }
  }

  /// `nil` if the export takes no pictures.
  package let pictures: Pictures?
  /// Frames with a depth record; `nil` if the export takes no depth.
  package let depth: Range<Int>?
  let depthChoice: DepthChoice
  /// The shape that the color pictures will have; `nil` as recorded by the camera.
  let shape: PublishedShape?
  /// The sharpness of the pictures of frames; pictures that cannot be decoded are missing in the
  /// result.
  let sharpness: (@Sendable (Set<Int>) throws -> [Int: Sharpness])?

  init(
    pictures: Pictures?, depth: Range<Int>?, depthChoice: DepthChoice,
    shape: PublishedShape? = nil, sharpness: (@Sendable (Set<Int>) throws -> [Int: Sharpness])?
  ) {
    self.pictures = pictures
    self.depth = depth
    self.depthChoice = depthChoice
    self.shape = shape
    self.sharpness = sharpness
  }

  /// Frames of a color stream for which a picture was counted.
  package static func counted(_ color: ColorStream, frames: Int) -> Set<Int> {
    if let frameOfPicture = color.frameOfPicture { return Set(frameOfPicture) }
    return Set(0..<max(0, min(color.description.frames ?? frames, frames)))
  }
}
