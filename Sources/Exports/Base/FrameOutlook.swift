import Captures
import Pipeline
import Processing

/// What the pictures of an export will be, as far as it can be told before any is made.
package struct FrameOutlook: Sendable {
  /// Color pictures.
  package struct Pictures: Sendable {
    /// Frames with a picture, as they were counted when the capture was opened.
    package let counted: Set<Int>
    /// Of these, those that the color stage is asked for.
    package let selection: FrameSelection

    package func has(_ frame: Int) -> Bool {
      counted.contains(frame) && selection.contains(frame)
    }

    package func isSkipped(_ frame: Int) -> Bool {
      counted.contains(frame) && !selection.contains(frame)
    }
  }

  /// `nil`: the export takes none.
  package let pictures: Pictures?
  /// Frames with a depth record; `nil`: the export takes no depth.
  package let depth: Range<Int>?
  package let depthChoice: DepthChoice
  /// How sharp the pictures of frames are; one that cannot be decoded is not in the answer.
  package let sharpness: (@Sendable (Set<Int>) throws -> [Int: Sharpness])?

  package init(
    pictures: Pictures?, depth: Range<Int>?, depthChoice: DepthChoice,
    sharpness: (@Sendable (Set<Int>) throws -> [Int: Sharpness])?
  ) {
    self.pictures = pictures
    self.depth = depth
    self.depthChoice = depthChoice
    self.sharpness = sharpness
  }

  /// Frames of a stream of color for which a picture was counted.
  package static func counted(_ color: ColorStream, frames: Int) -> Set<Int> {
    if let frameOfPicture = color.frameOfPicture { return Set(frameOfPicture) }
    return Set(0..<max(0, min(color.description.frames ?? frames, frames)))
  }
}
