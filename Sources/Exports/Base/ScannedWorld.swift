import Captures

/// What world the poses of a capture refer to.
package enum ScannedWorld {
  /// Whether it is one with z up, as in published scenes, whose world is that of their mesh.
  package static func isZUp(_ capture: Capture) -> Bool {
    capture.familyDescription.worldIsZUp(capture.generation)
  }
}
