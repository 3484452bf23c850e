extension ArtifactRecord {
  /// The key among `recorded` under which stages state what the values of their color pictures mean.
  public static let lightKey = "light"

  /// The value of white in 16-bit pictures of linear light, as a part of the largest value; `nil` for all
  /// other pictures.
  public var whiteOfLinearLight: Double? {
    guard case .object(let light)? = recorded[Self.lightKey] else { return nil }
    return switch light["white"] {
    case .integer(let white): Double(white)
    case .number(let white): white
    default: nil
    }
  }
}
