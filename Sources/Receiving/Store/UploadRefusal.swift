/// Why an upload or a question is not accepted, in words for the person who holds the device.
public struct UploadRefusal: Error, Sendable, CustomStringConvertible {
  public enum Kind: Sendable, Equatable, CaseIterable {
    /// The name, a header or the length is not acceptable.
    case invalid
    /// More bytes than allowed for one file or one capture.
    case tooLarge
    /// The ending is of no known family.
    case unknownEnding
    /// The disk, the quota or the reserve.
    case noSpace
    /// The bytes are not those that the sender's digest describes; nothing was stored.
    case wrongDigest
    /// No file of that name was received.
    case unknown
    /// The sender has begun and left too many uploads.
    case tooMany
    /// Nothing, or too little, arrived for too long.
    case tooSlow
    /// Something that was not received is in the way, or the upload is being received elsewhere.
    case conflict
    /// A file call failed: not the sender's fault.
    case failed
  }

  public var kind: Kind
  var message: String

  init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.message = message
  }

  public var description: String { message }
}
