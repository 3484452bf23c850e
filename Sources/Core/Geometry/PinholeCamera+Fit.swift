extension PinholeCamera {
  /// This camera for pictures of `width` × `height`: unchanged if that is its size, rescaled by the
  /// half-pixel rule if the aspects agree within 1 %, else `nil`.
  public func fitted(toWidth newWidth: Int, height newHeight: Int) -> PinholeCamera? {
    if (newWidth, newHeight) == (width, height) { return self }
    let sx = Double(newWidth) / Double(width)
    let sy = Double(newHeight) / Double(height)
    guard abs(sx / sy - 1) <= 0.01 else { return nil }
    return scaled(toWidth: newWidth, height: newHeight)
  }
}
