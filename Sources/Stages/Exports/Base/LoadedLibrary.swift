import Engine
import Glibc

/// A library of the system that few runs need: it is loaded when it is first used, and no process starts with it.
struct LoadedLibrary {
  private let file: UnsafeMutableRawPointer
  private let name: String
  private let package: String

  /// - Parameters:
  ///   - names: of its file, by version; the first that is there counts.
  ///   - package: what a user installs.
  init(_ names: String..., package: String) throws(StageFailure) {
    let found = names.lazy.compactMap { name in
      dlopen(name, RTLD_NOW | RTLD_LOCAL).map { (name, $0) }
    }.first
    guard let (name, file) = found else {
      throw StageFailure("\(names.first ?? package) cannot be loaded: install \(package)")
    }
    (self.file, self.name, self.package) = (file, name, package)
  }

  /// The function of a name as the type that the caller gives it, which must be that of the library's header.
  func function<Function>(_ name: String) throws(StageFailure) -> Function {
    guard let address = dlsym(file, name) else {
      throw StageFailure("\(self.name) has no \(name): install a newer \(package)")
    }
    return unsafeBitCast(address, to: Function.self)
  }
}

/// The functions of libxml2 in use.
struct XMLLibrary {
  typealias Buffer = OpaquePointer
  typealias Writer = OpaquePointer
  typealias Text = UnsafePointer<UInt8>
  typealias OfBuffer = @convention(c) @Sendable (Buffer) -> Void
  typealias OfWriter = @convention(c) @Sendable (Writer) -> Int32
  typealias OfText = @convention(c) @Sendable (Writer, Text) -> Int32

  let createBuffer: @convention(c) @Sendable () -> Buffer?
  let freeBuffer: OfBuffer
  let emptyBuffer: OfBuffer
  let count: @convention(c) @Sendable (Buffer) -> Int32
  let content: @convention(c) @Sendable (Buffer) -> Text?
  let createWriter: @convention(c) @Sendable (Buffer, Int32) -> Writer?
  let freeWriter: @convention(c) @Sendable (Writer) -> Void
  let setIndent: @convention(c) @Sendable (Writer, Int32) -> Int32
  let setIndentText: OfText
  let startDocument:
    @convention(c) @Sendable (
      Writer, UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafePointer<CChar>?
    ) -> Int32
  let endDocument: OfWriter
  let startElement: OfText
  let endElement: OfWriter
  let writeAttribute: @convention(c) @Sendable (Writer, Text, Text) -> Int32
  let writeText: OfText
  let flush: OfWriter

  static let loaded = Result { () throws(StageFailure) in try XMLLibrary() }

  private init() throws(StageFailure) {
    let library = try LoadedLibrary("libxml2.so.2", "libxml2.so.16", package: "libxml2")
    createBuffer = try library.function("xmlBufferCreate")
    freeBuffer = try library.function("xmlBufferFree")
    emptyBuffer = try library.function("xmlBufferEmpty")
    count = try library.function("xmlBufferLength")
    content = try library.function("xmlBufferContent")
    createWriter = try library.function("xmlNewTextWriterMemory")
    freeWriter = try library.function("xmlFreeTextWriter")
    setIndent = try library.function("xmlTextWriterSetIndent")
    setIndentText = try library.function("xmlTextWriterSetIndentString")
    startDocument = try library.function("xmlTextWriterStartDocument")
    endDocument = try library.function("xmlTextWriterEndDocument")
    startElement = try library.function("xmlTextWriterStartElement")
    endElement = try library.function("xmlTextWriterEndElement")
    writeAttribute = try library.function("xmlTextWriterWriteAttribute")
    writeText = try library.function("xmlTextWriterWriteString")
    flush = try library.function("xmlTextWriterFlush")
    // libxml2 (2.9.14) creates its table of encodings at first use without a lock: in 207 of 20,000 tries, one of four
    // threads that began documents at the same time in a new process was ended by SIGSEGV. Prepared by one thread, in
    // none of 20,000.
    let prepare: @convention(c) () -> Void = try library.function("xmlInitParser")
    prepare()
  }
}
