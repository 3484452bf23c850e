import Core
import Media
import SystemPackage

/// Builds the capture that a `capture.yaml` describes.
final class OpenFolderCapture {
  let description: OpenFolderDescription
  let content: OpenFolderContent
  let warnings = WarningCollector()
  private(set) var frames = OpenFolderFrames()
  var files: [CapturePart: [FilePath]] = [:]
  /// The color video, and the stored and upright size of the pictures.
  private(set) var track: VideoTrack?
  private(set) var storedSize: PictureSize?
  private(set) var uprightSize: PictureSize?
  private var framesProblem: CaptureError?
  private var claims: [StreamClaim] = []
  var completeness = UploadCompleteness()
  /// The parts of which item k is not always frame k, so that other streams decide about their frames.
  private var placedParts: Set<CapturePart> = []
  /// Describes the color pictures, whose frames are known when depth has put its own between them.
  private var describeColor: ((inout ColorStream) -> Void)?
  /// Files whose absence or damage was told of: several streams may read one.
  var told: Set<String> = []

  init(_ description: OpenFolderDescription, _ content: OpenFolderContent) {
    (self.description, self.content) = (description, content)
  }

  func capture(id: String) throws(CaptureError) -> Capture {
    var capture = Capture(
      id: id, family: .openFolder, generation: "v1", folder: content.path,
      clock: CaptureClock(.uptime, unit: "s"))
    // In this order: later streams are given to the frames of earlier ones.
    capture.color = state(description.color, "color", color)
    capture.depth = state(description.depth, "depth", depth)
    place(&capture.color)
    capture.confidence = state(description.confidence, "confidence", confidence)
    capture.poses = state(description.poses, "poses", poses)
    let cameras = state(description.intrinsics, "intrinsics", cameras)
    capture.imu = state(description.motion.first, "motion", motion)
    capture.geo = state(description.geo, "positions", geo)
    if frames.items.isEmpty, capture.imu.value == nil {
      let problems = [
        framesProblem, capture.color.error, capture.depth.error, capture.poses.error,
        capture.imu.error,
      ]
      let names = completeness.absentFiles.prefix(3).map { PathText.shown($0).onOneLine }
      throw problems.lazy.compactMap(\.self).first
        ?? CaptureError(
          file: content.path,
          problem: "nothing that \(OpenFolderReader.fileName) names is there"
            + (names.isEmpty ? "" : ": " + names.joined(separator: ", ")),
          remedy: "check whether the upload is complete")
    }
    capture.clock = clock
    capture.device.model = description.map.text("device")
    capture.frames = frames.items.indices.map { index in
      CaptureFrame(
        timestamp: frames.items[index].time,
        colorTimestamp: frames.color[index].flatMap { _ in frames.items[index].time },
        depthTimestamp: frames.depthTimes[index])
    }
    capture.framesProblem = framesProblem
    capture.framesShareIMUClock =
      capture.imu.value != nil && frames.shared.haveTimes
      && description.motion.first?.time?.clock == frames.shared.clock
    capture.cameraSettings = .absent("an open folder describes no camera settings")
    let first = cameras.value?.first?.camera
    let fit = ColorFit(
      stated: first?.size, stored: storedSize, swapsSides: uprightSize == storedSize?.turned)
    fit.report(to: warnings)
    capture.intrinsics = intrinsics(cameras, fit)
    if let depth = capture.depth.value {
      capture.alignment = try alignment(first, fit)
      if description.depthCamera == nil {
        ColorFit.reportAspect(
          ofDepth: PictureSize(width: depth.width, height: depth.height), with: storedSize,
          to: warnings)
      }
    }
    reportTimes()
    capture.warnings = warnings.warnings
    capture.claims = claims
    completeness.isWhole = completeness.missing.isEmpty
    capture.completeness = completeness
    let cameraFiles = (files[.intrinsics] ?? []) + (files[.color]?.prefix(1) ?? [])
    (files[.intrinsics], files[.calibration]) = (cameraFiles, cameraFiles)
    let placing = (files[.frames] ?? []) + (files[.color] ?? []) + (files[.depth] ?? [])
    files[.frames] = placing
    for part in placedParts {
      files[part, default: []] += placing.filter { files[part]?.contains($0) != true }
    }
    capture.files = files.mapValues { [description.map.file] + $0 }
    return capture
  }

  private func state<Value>(
    _ stream: OpenFolderStream?, _ what: String,
    _ read: (OpenFolderStream) throws(CaptureError) -> StreamState<Value>
  ) -> StreamState<Value> {
    guard let stream else { return .absent("capture.yaml describes no \(what)") }
    do throws(CaptureError) {
      return try read(stream)
    } catch {
      return .unreadable(error)
    }
  }

  /// Gives the color pictures, which keep their order, the frames that they have among those of depth.
  private func place(_ color: inout StreamState<ColorStream>) {
    guard var stream = color.value else { return }
    let places = framesOfColor
    let arePlain = places.elementsEqual(places.indices)
    if !arePlain { placedParts.insert(.color) }
    if stream.frameOfPicture != nil || !arePlain { stream.frameOfPicture = places }
    describeColor?(&stream)
    color = .present(stream)
  }

  private var times: [OpenFolderStream.Time] {
    [description.color, description.depth, description.poses].compactMap { $0?.time }
  }

  private var clock: CaptureClock {
    let stated = description.map.text("clock").flatMap(CaptureClock.Base.init) ?? .uptime
    let base = frames.shared.clock == "video" ? .video : stated
    return CaptureClock(
      frames.shared.hasMadeUpTimes ? .nominal : base, unit: times.first?.unit ?? "s")
  }

  private func reportTimes() {
    guard !times.isEmpty else { return }
    let times = frames.items.map(\.time)
    warnings.add(
      .timestampsMissing, "frames", count: times.count { $0 == nil }, "frames without a time")
    warnings.addOrder(of: TimeSteps(ofNeighbors: times), times: times.count)
  }

  // MARK: Pictures

  /// The pictures of a stream and what they carry, also by the rows of its own table. An absence
  /// is told.
  private func pictures(
    _ stream: OpenFolderStream, _ part: CapturePart, _ table: OpenFolderItems?
  ) throws(CaptureError) -> (files: OpenFolderPictures, items: OpenFolderItems) {
    var media = OpenFolderItems(clock: stream.time?.clock)
    var pictures: OpenFolderPictures?
    if let images = stream.images, let raw = stream.raw, !images.contains("*") {
      guard absence(of: images, stream.subject) == nil else {
        return (OpenFolderPictures(content, []), media)
      }
      let whole = try OpenFolderPictures(content, whole: images, pictureBytes: raw.byteCount)
      if let problem = InputLimits.framesOfCapture.problem(whole.count) {
        throw CaptureError(file: content.full(images), problem: problem)
      }
      if whole.isCut || whole.count == 0 {
        warnings.add(.truncatedStream, stream.subject, "\(images) ends inside a picture")
        completeness.missing.append("\(images) ends inside a picture.")
      }
      media.items = (0..<whole.count).map { _ in OpenFolderItem() }
      pictures = whole
    } else if let pattern = stream.images {
      media.namesAreTimes = stream.time?.source == .name
      let found = try content.files(pattern, time: media.namesAreTimes ? stream.time : nil)
      warnings.addLinksOutside(stream.subject, found.outside, of: "files")
      media.items = found.items
      if media.items.isEmpty {
        _ = lacks(pattern, stream.subject, "named by capture.yaml, and no such file is there")
      }
      if table == nil { clean(&media, stream) }
    } else if let table, let own = stream.table {
      media.table = own
      let names = table.items.filter { $0.name != nil }
      if names.isEmpty, let file = stream.file {
        warnings.add(
          .missingKey, stream.subject, "no row of \(own.file) names a picture in `\(file)`")
      }
      var outside = 0
      var missing: [String] = []
      for var item in names {
        let name = item.name ?? ""
        let found = content.picture(name, of: own.file)
        if let path = found.path {
          item.name = path
          media.items.append(item)
        } else if found.isOutside {
          outside += 1
        } else {
          missing.append(name)
        }
      }
      warnings.add(
        .missingFile, stream.subject, count: missing.count,
        "pictures that rows name and that are not there" + Self.first(missing))
      warnings.add(
        .pathOutsideCapture, stream.subject, count: outside,
        "rows that name a picture outside the capture's folder; not followed")
      claims.add(
        stream.subject, held: media.items.count, declared: names.count,
        by: "the rows that name pictures")
      if !missing.isEmpty {
        completeness.missing.append(
          "\(Plural.text(missing.count, "picture")) of \(stream.subject) \(Plural.word(missing.count, "is", "are")) not there."
        )
        completeness.absentFiles += missing
      }
    }
    let files = pictures ?? OpenFolderPictures(content, media.items.compactMap(\.name))
    self.files[part, default: []] += files.paths
    return (files, media)
  }

  /// `, such as 0007.jpg`; empty for none.
  private static func first(_ names: [String]) -> String {
    names.first.map { ", such as " + PathText.shown($0).onOneLine } ?? ""
  }

  /// Tells of a pairing, where it lost something or proves nothing.
  ///
  /// - Parameters:
  ///   - without: the frames that have no item.
  ///   - isOwn: whether the frames are the rows of the stream's own table, each of which has an item.
  private func report(
    _ match: OpenFolderFrames.Match, _ subject: String, of items: Int, without: [Int],
    of frames: Int, isOwn: Bool
  ) -> StreamPairing {
    if let doubt = match.doubt {
      warnings.add(.pairingApproximate, subject, count: items, doubt)
    }
    let lone = items - match.paired
    var (lost, held, declared) = (lone + without.count, frames - without.count, frames)
    var known = frames - match.ownFrames
    var which = Self.lone(lone, areFrames: match.ownFrames > 0) + LossWords.without(without)
    if match.way == .time, match.doubt == nil, !isOwn, lost > 0 {
      // Items between two frames have none, and lose nothing by it; as many come as there are frames, but for the ends.
      declared = match.framesOfSameRate ?? items
      (lost, held, known, which) = (abs(declared - items), min(items, declared), declared, "")
      if lost == 1 { lost = 0 }
    }
    warnings.add(
      .frameCountMismatch, subject, count: lost, "\(items) items, \(known) frames" + which)
    if lost > 0 { claims.add(subject, held: held, declared: declared, by: "the frames") }
    return StreamPairing(
      way: match.way, partners: "frames", paired: match.paired, items: items,
      isDoubtful: match.doubt != nil)
  }

  /// `; 3 items belong to none of them and are frames of their own`; empty for 0.
  private static func lone(_ count: Int, areFrames: Bool) -> String {
    if count == 0 { return "" }
    let (belong, own) =
      count == 1
      ? ("1 item belongs", " and is a frame of its own")
      : ("\(count) items belong", " and are frames of their own")
    return "; \(belong) to none of them" + (areFrames ? own : "")
  }

  /// Describes a stream whose items were given to frames, and tells what it lacks.
  func describe(
    _ description: inout StreamDescription, _ match: OpenFolderFrames.Match,
    _ stream: OpenFolderStream, of items: Int, without: [Int], _ times: [Timestamp?],
    isOwn: Bool = false
  ) {
    let known =
      stream.subject == "color" ? frames.isOfDepth.count { !$0 } : frames.items.count
    let pairing = report(
      match, stream.subject, of: items, without: without, of: known, isOwn: isOwn)
    description.pairing = match.isFirst ? nil : pairing
    description.state(times: times)
  }

  /// Gives items to frames, which they become if there are none.
  func given(
    _ items: OpenFolderItems, of stream: OpenFolderStream
  ) throws(CaptureError) -> OpenFolderFrames.Match {
    if frames.items.isEmpty { return frames.add(items, as: nil) }
    try checkClock(of: items, stream)
    return frames.match(items)
  }

  private func color(_ stream: OpenFolderStream) throws(CaptureError) -> StreamState<ColorStream> {
    var table: OpenFolderItems?
    do throws(CaptureError) {
      table = try rows(stream, .frames) { _ in () }?.items
      if let table { _ = frames.add(table, as: nil) }
    } catch {
      framesProblem = error
    }
    if let name = stream.video { return try video(name, stream, hasRows: table != nil) }
    var (pictures, items) = try pictures(stream, .color, table)
    guard !items.items.isEmpty else {
      return .absent("no picture that capture.yaml names is there")
    }
    if items.table == nil { items.pair = stream.pair }
    try checkClock(of: items, stream)
    let match = frames.add(items, as: .color)
    // Pictures in the order of frames.
    let order = frames.color.enumerated().compactMap { frame, index in
      index.map { NumberedFiles.File(number: frame, name: pictures.file(of: $0)) }
    }
    let color = ColorPictures(OpenFolderPictures(content, order.map(\.name)))
    (storedSize, uprightSize) = (color.head?.storedSize, color.head?.uprightSize)
    let count = items.items.count
    let isOwn = table != nil
    describeColor = { [unowned self] color in
      describe(
        &color.description, match, stream, of: count,
        without: stream.images == nil ? [] : framesWithoutColor, colorTimes, isOwn: isOwn)
    }
    return .present(ColorStream(color, of: NumberedFiles(order), folder: stream.name))
  }

  /// The frames without a picture, but for those of depth alone.
  private var framesWithoutColor: [Int] {
    frames.color.indices.filter { frames.color[$0] == nil && !frames.isOfDepth[$0] }
  }

  /// The frame of each color picture.
  private var framesOfColor: [Int] { frames.color.indices.filter { frames.color[$0] != nil } }

  private var colorTimes: [Timestamp?] { framesOfColor.map { frames.items[$0].time } }

  private func video(
    _ name: String, _ stream: OpenFolderStream, hasRows: Bool
  ) throws(CaptureError) -> StreamState<ColorStream> {
    if let absence = absence(of: name, "color") { return .absent(absence) }
    let path = content.full(name)
    files[.color, default: []].append(path)
    guard let video = try CaptureVideo(path) else {
      throw CaptureError(file: path, problem: "it has no video track")
    }
    (track, storedSize, uprightSize) = (
      video.track, video.track.storedSize, video.track.uprightSize
    )
    var media = OpenFolderItems(clock: "video", tick: video.tickNanoseconds, pair: stream.pair)
    let isTimed = stream.time?.source == .video
    if isTimed, !hasRows { media.clock = stream.time?.clock }
    let offset = isTimed ? stream.time?.offsetNanoseconds ?? 0 : 0
    media.items = video.pictureNanoseconds.map {
      OpenFolderItem(time: Timestamp(nanoseconds: $0).advanced(byNanoseconds: offset))
    }
    if case .rate? = stream.time?.source, !hasRows { clean(&media, stream) }
    let match = frames.add(media, as: .color)
    let places = match.frames.compactMap(\.self)
    guard zip(places, places.dropFirst()).allSatisfy(<) else {
      throw CaptureError(
        file: path, problem: "its pictures and the rows of the table are not in one order",
        correction: "sort the table by time")
    }
    VideoOddities(video.track).report(to: warnings)
    if video.track.orientation.isIgnored {
      warnings.add(
        .rotationIgnored, "color",
        "the rotation of \(name) is not a multiple of 90 degrees; it is not applied")
    }
    warnings.add(
      .multipleStreams, "color", count: video.otherTracks,
      "further video tracks in \(name); not used")
    if video.endsEarly {
      warnings.add(
        .truncatedStream, name, "the video ends before its own index says; what is there is used")
    }
    claims.add(
      "color", held: video.pictureCount, declared: video.track.listedPictures,
      by: "the index of the video")
    describeColor = { [unowned self] color in
      describe(
        &color.description, match, stream, of: video.pictureCount, without: framesWithoutColor,
        colorTimes, isOwn: hasRows)
    }
    return .present(video.stream(video.description(), framesOfPictures: places))
  }

  /// The pictures of depth or confidence with the times and numbers of their own table; `nil` without any.
  private func grid(
    _ stream: OpenFolderStream, _ part: CapturePart
  ) throws(CaptureError) -> (files: OpenFolderPictures, items: OpenFolderItems)? {
    let table = try rows(stream, part) { _ in () }?.items
    var (files, items) = try pictures(stream, part, table)
    guard !items.items.isEmpty else { return nil }
    if let table, stream.images != nil {
      var own = OpenFolderFrames()
      _ = own.add(table, as: nil)
      let match = own.add(items, as: .color)
      _ = report(
        match, stream.subject, of: items.items.count,
        without: own.color.indices.filter { own.color[$0] == nil }, of: own.items.count, isOwn: true
      )
      for (index, frame) in match.frames.enumerated() {
        guard let frame else { continue }
        let name = items.items[index].name
        items.items[index] = own.items[frame]
        items.items[index].name = name
      }
      (items.table, items.clock) = (table.table, own.shared.clock)
    }
    items.pair = stream.pair
    return (files, items)
  }

  private func depth(_ stream: OpenFolderStream) throws(CaptureError) -> StreamState<DepthStream> {
    guard let (files, items) = try grid(stream, .depth) else {
      return .absent("no depth picture is there")
    }
    try checkClock(of: items, stream)
    let match = frames.add(items, as: .depth)
    return try present(
      files, frames.depth, stream, .depth, encoding: OpenFolderDepthValues.encoding(of: files),
      match,
      without: frames.depth.indices.filter { frames.depth[$0] == nil }, frames.depthTimes,
      decoder: OpenFolderDepthValues(stream).decode)
  }

  private func confidence(
    _ stream: OpenFolderStream
  ) throws(CaptureError) -> StreamState<ConfidenceStream> {
    guard let (files, items) = try grid(stream, .confidence) else {
      return .absent("no confidence picture is there")
    }
    try checkClock(of: items, stream)
    let match = frames.match(items)
    var indices = [Int?](repeating: nil, count: frames.items.count)
    for (index, frame) in match.frames.enumerated() {
      if let frame { indices[frame] = index }
    }
    return try present(
      files, indices, stream, .confidence, encoding: "png-u8", match,
      without: indices.indices.filter { indices[$0] == nil && frames.depth[$0] != nil },
      indices.enumerated().map { $1 == nil ? nil : frames.items[$0].time }
    ) { [raw = stream.raw] bytes, file, pixels throws(PictureDamage) in
      guard let raw else { return try PictureFiles.storedGray(bytes, file, &pixels) }
      pixels = try PictureDamage.of(try raw.pixels(in: bytes))
      return PictureFinding(size: raw.size)
    }
  }

  /// - Parameters:
  ///   - indices: the picture of each frame.
  ///   - encoding: of files that are not raw.
  private func present<Pixel: BitwiseCopyable & Sendable>(
    _ pictures: OpenFolderPictures, _ indices: [Int?], _ stream: OpenFolderStream,
    _ part: CapturePart, encoding: String, _ match: OpenFolderFrames.Match, without: [Int],
    _ times: [Timestamp?],
    decoder: @escaping PictureFiles<Pixel>.Decoder
  ) throws(CaptureError) -> StreamState<PictureStream<Pixel>> {
    if indices.enumerated().contains(where: { $1 != nil && $1 != $0 }) { placedParts.insert(part) }
    let files = PictureFiles<Pixel>(
      pictures, frames: indices.map { $0.map { Int32(clamping: $0) } ?? -1 },
      try size(of: pictures, decoder),
      encoding: stream.raw.map { "raw-\($0.type.rawValue)" } ?? encoding, decoder: decoder)
    var found = PictureStream(files, folder: stream.name, of: [])
    found.description.frames = pictures.count
    describe(
      &found.description, match, stream, of: pictures.count, without: without, times)
    return .present(found)
  }

  private static let mostLookedAt = 16

  /// The size of the first picture that can be read. Throws if none of the first pictures can be.
  private func size<Pixel: BitwiseCopyable & Sendable>(
    of pictures: OpenFolderPictures, _ decoder: PictureFiles<Pixel>.Decoder
  ) throws(CaptureError) -> PictureSize {
    var problem: CaptureError?
    for index in 0..<min(pictures.count, Self.mostLookedAt) {
      let file = pictures.file(of: index)
      do {
        guard case .bytes(let bytes) = try pictures.bytes(of: index) else { continue }
        var pixels: [Pixel] = []
        return try decoder(bytes, FilePath(text: file), &pixels).size
      } catch let damage as PictureDamage {
        problem = problem ?? CaptureError(damage.error, of: content.full(file))
      } catch {
        problem = problem ?? error as? CaptureError
      }
    }
    throw problem ?? CaptureError(file: content.path, problem: "no picture")
  }
}
