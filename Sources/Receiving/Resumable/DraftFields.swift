import HTTPTypes

/// What a request says in the fields of the draft of the IETF for resumable uploads
/// (draft-ietf-httpbis-resumable-upload), whose iterations differ in names.
struct DraftFields {
  /// The iteration that the sender speaks: 3 (iOS 17), 5, 6 or 8.
  let version: Int
  /// Whether the body ends the file; `nil`: the request does not say.
  let isComplete: Bool?
  let offset: Int64?
  /// Length of the whole file.
  let length: Int64?

  /// Iterations that are spoken: the first that iOS knows, those of Apple's library for servers, and the last one.
  static let versions: Set<Int> = [3, 5, 6, 8]
  /// From this one on completeness is said by `Upload-Complete`; before by `Upload-Incomplete`.
  private static let firstWithComplete = 5
  /// From this one on there are `Upload-Limit` and `application/partial-upload`.
  private static let firstWithLimits = 6

  static let contentType = "application/partial-upload"

  /// `nil` if no iteration is named that is spoken here.
  init?(_ exchange: Exchange) {
    guard let version = exchange.field("Upload-Draft-Interop-Version").flatMap(Self.integer),
      Self.versions.contains(Int(clamping: version))
    else { return nil }
    self.version = Int(clamping: version)
    isComplete =
      version >= Self.firstWithComplete
      ? exchange.field("Upload-Complete").flatMap(Self.boolean)
      : exchange.field("Upload-Incomplete").flatMap(Self.boolean).map { !$0 }
    offset = exchange.field("Upload-Offset").flatMap(Self.integer)
    length = exchange.field("Upload-Length").flatMap(Self.integer)
  }

  /// Whether a request says that its body is a part of a file, in whatever iteration. Where the draft is not spoken such
  /// a body must not be taken for the whole file.
  static func tellsOfPart(_ exchange: Exchange) -> Bool {
    exchange.field("Upload-Complete").flatMap(boolean) == false
      || exchange.field("Upload-Incomplete").flatMap(boolean) == true
      || exchange.field("Upload-Offset").flatMap(integer) ?? 0 > 0
  }

  var hasLimits: Bool { version >= Self.firstWithLimits }
  var mustTellCompleteness: Bool { version >= Self.firstWithComplete }

  // MARK: Answers

  /// Fields of an answer about an upload.
  ///
  /// - Parameters:
  ///   - isComplete: `nil`: not told.
  ///   - lifetime: in nanoseconds.
  func fields(
    isComplete: Bool? = nil, offset: Int64? = nil, length: Int64? = nil, location: String? = nil,
    lifetime: Int64? = nil, most: Int64? = nil
  ) -> HTTPFields {
    var fields = HTTPFields()
    func set(_ name: String, _ value: String) {
      if let name = HTTPField.Name(name) { fields[name] = value }
    }
    set("Upload-Draft-Interop-Version", "\(version)")
    if let isComplete {
      if version >= Self.firstWithComplete {
        set("Upload-Complete", isComplete ? "?1" : "?0")
      } else {
        set("Upload-Incomplete", isComplete ? "?0" : "?1")
      }
    }
    if let offset { set("Upload-Offset", "\(offset)") }
    if let length, hasLimits { set("Upload-Length", "\(length)") }
    if let location { set("Location", location) }
    if hasLimits, lifetime != nil || most != nil {
      var limits: [String] = []
      if let most { limits.append("max-size=\(most)") }
      if let lifetime {
        let seconds = max(0, lifetime / 1_000_000_000)
        limits.append(version >= 8 ? "max-age=\(seconds)" : "expires=\(seconds)")
      }
      set("Upload-Limit", limits.joined(separator: ", "))
    }
    return fields
  }

  // MARK: Structured fields

  /// An integer of at most 15 digits, not below zero; `nil` for anything else. Parameters are passed over.
  static func integer(_ text: String) -> Int64? {
    let item = item(text)
    guard (1...15).contains(item.utf8.count), item.utf8.allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    return Int64(item)
  }

  /// `?1` or `?0`; `nil` for anything else. Parameters are passed over.
  static func boolean(_ text: String) -> Bool? {
    switch item(text) {
    case "?1": true
    case "?0": false
    default: nil
    }
  }

  private static func item(_ text: String) -> Substring {
    var item = text.prefix { $0 != ";" }.drop { $0 == " " }
    while item.last == " " { item.removeLast() }
    return item
  }
}
