import Captures

/// What world the poses of a capture refer to.
package enum ScannedWorld {
  /// Published ScanNet++ scenes stand in the world of their mesh, which has z up.
  package static func isReleasedScene(_ capture: Capture) -> Bool {
    capture.family == .arkitScanner && capture.generation == "scannetpp"
  }
}
