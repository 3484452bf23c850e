import Captures

/// The world frame of a capture's poses.
package enum ScannedWorld {
  /// Whether z points up, as in published scenes, whose world is that of their mesh.
  package static func isZUp(_ capture: Capture) -> Bool {
    capture.familyDescription.worldIsZUp(capture.generation)
  }
}
