/// An attribute of an element. Names are constants of the program; values are escaped when written.
public struct Attribute: Sendable, Hashable {
  /// Empty for an attribute that may not have a text value; it is then not written.
  let name: String
  /// `nil` for an attribute without value.
  let value: String?
}

extension Attribute {
  /// - Parameter name: a constant of the program. Attributes that load, link, run or style (`href`,
  ///   `src`, `on…`, `style`, …) are never written with a text. Addresses are set by `link`,
  ///   `picture`, `icon` and `shape`, which do not take text.
  public init(_ name: StaticString, _ value: String) {
    let name = "\(name)"
    self.init(name: Self.isHarmless(name) ? name : "", value: value)
  }

  public init(_ name: StaticString, _ value: Int) { self.init(name, "\(value)") }

  /// An attribute without value.
  public init(flag name: StaticString) {
    let name = "\(name)"
    self.init(name: Self.isHarmless(name) ? name : "", value: nil)
  }

  public static func id(_ text: String) -> Attribute { Attribute("id", text) }
  public static func classes(_ text: StaticString) -> Attribute { Attribute("class", "\(text)") }
  public static func httpEquiv(_ text: StaticString) -> Attribute {
    Attribute(name: "http-equiv", value: "\(text)")
  }
  public static func content(_ text: String) -> Attribute { Attribute("content", text) }
  static func metaName(_ text: StaticString) -> Attribute { Attribute("name", "\(text)") }
  /// The label of a picture, plot or control without text of its own.
  public static func label(_ text: String) -> Attribute { Attribute("aria-label", text) }
  public static func link(_ address: PageAddress) -> Attribute {
    Attribute(name: "href", value: address.text)
  }
  public static func picture(_ data: PictureData) -> Attribute {
    Attribute(name: "src", value: data.text)
  }
  /// The address of a `link` element with the icon of the browser tab.
  public static func icon(_ data: PictureData) -> Attribute {
    Attribute(name: "href", value: data.text)
  }
  /// The shape that a `use` element draws, by its id on the same page.
  static func shape(_ id: StaticString) -> Attribute {
    Attribute(name: "href", value: PageAddress.fragment("\(id)").text)
  }

  private static let guarded: Set<String> = [
    "href", "src", "srcset", "srcdoc", "style", "action", "formaction", "poster", "background",
    "ping",
    "data", "cite", "manifest", "http-equiv",
  ]

  private static func isHarmless(_ name: String) -> Bool {
    let name = name.lowercased()
    return !name.isEmpty && !name.hasPrefix("on") && !guarded.contains(name)
      && !name.hasSuffix(":href")
      && name.utf8.allSatisfy { $0.isLetterOrDigit || $0 == 0x2D }
  }
}
