import Core
import Media
import SystemPackage

/// Builds the capture that a `capture.yaml` describes.
struct OpenFolderCapture {
  let description: OpenFolderDescription
  let content: OpenFolderContent
  let warnings = WarningCollector()
  var frames = OpenFolderFrames()
  private var framesProblem: CaptureError?
  var files: [CapturePart: [FilePath]] = [:]
  private var claims = StreamClaims()
  private var completeness = UploadCompleteness()
  /// Tables whose damage was told of: several streams may read one.
  private var told: Set<String> = []
  /// The color video, and the stored size of the pictures.
  var track: VideoTrack?
  var storedSize: PictureSize?

  init(_ description: OpenFolderDescription, _ content: OpenFolderContent) {
    (self.description, self.content) = (description, content)
  }

  mutating func capture(id: String) throws(CaptureError) -> Capture {
    let color = color()
    let depth = depth()
    let confidence = confidence()
    let poses = poses()
    let camera = camera()
    let (imu, clock) = motion()
    let isEmpty = frames.items.isEmpty && imu.value == nil
    if isEmpty, let error = framesProblem ?? color.error ?? depth.error ?? poses.error ?? imu.error
    {
      throw error
    }
    if isEmpty {
      throw CaptureError(
        file: content.path, problem: "nothing that \(OpenFolderReader.fileName) names is there",
        remedy: "check whether the upload is complete")
    }
    var capture = Capture(
      id: id, family: .openFolder, generation: "v1", folder: content.path, clock: self.clock)
    capture.device.model = description.model
    capture.frames = frames.items.indices.map { index in
      CaptureFrame(
        timestamp: frames.items[index].time,
        colorTimestamp: frames.color[index].flatMap { _ in frames.items[index].time },
        depthTimestamp: frames.depthTimes[index])
    }
    (capture.color, capture.depth, capture.confidence) = (color, depth, confidence)
    (capture.poses, capture.imu) = (poses, imu)
    capture.framesProblem = framesProblem
    capture.framesShareIMUClock = clock == frames.shared.clock && frames.shared.haveTimes
    capture.cameraSettings = .absent("an open folder describes no camera settings")
    capture.geo = geo()
    let fit = fit(camera.first)
    capture.intrinsics = intrinsics(camera, fit)
    if depth.value != nil { capture.alignment = try alignment(camera.first?.camera, fit) }
    reportTimes()
    capture.warnings = warnings.warnings
    capture.claims = claims
    completeness.isWhole = completeness.missing.isEmpty
    capture.completeness = completeness
    let own = [description.file]
    capture.files = files.mapValues { own + $0 }
    capture.files[.frames] =
      own + (files[.frames] ?? []) + (files[.color] ?? []) + (files[.depth] ?? [])
    let cameraFiles = (files[.intrinsics] ?? []) + (files[.color]?.prefix(1) ?? [])
    capture.files[.intrinsics] = own + cameraFiles
    capture.files[.calibration] = own + cameraFiles
    return capture
  }

  var clock: CaptureClock {
    let times = [
      description.color?.time, description.depth?.items.time, description.poses?.items.time,
    ]
    let unit = times.compactMap(\.self).first?.unit ?? .seconds
    let base: CaptureClock.Base =
      switch frames.shared.clock {
      case _ where frames.shared.hasMadeUpTimes: .nominal
      case "video"?: .video
      default:
        switch description.clock {
        case .uptime: .uptime
        case .unix: .unix
        case .recordingStart: .recordingStart
        }
      }
    return CaptureClock(base, unit: unit.rawValue)
  }

  // MARK: Files

  private mutating func lacks(_ name: String, _ subject: String, _ what: String) -> String {
    warnings.add(.missingFile, subject, "\(name): \(what)")
    completeness.missing.append("\(name): \(what).")
    completeness.absentFiles.append(name)
    return "\(name): \(what)"
  }

  /// Why a file that `capture.yaml` names must not be read; `nil` if it is there.
  mutating func absence(of name: String, _ subject: String) -> String? {
    switch content.look(at: name) {
    case .file: return nil
    case .absent: return lacks(name, subject, "named by capture.yaml, and not there")
    case .outside:
      warnings.add(
        .pathOutsideCapture, name, "a link out of the capture's folder; not followed")
      return "\(name) leads out of the folder"
    }
  }

  /// Reads the rows of a stream's table: what they carry, and the value of each usable one. `nil`
  /// without a table, or if it is not there or empty, which is told.
  mutating func rows<Value>(
    _ stream: OpenFolderDescription.Items, _ part: CapturePart, columns: [String] = [],
    _ value: (OpenFolderTable) -> Value
  ) throws(CaptureError) -> (items: OpenFolderItems, values: [Value?])? {
    guard let table = stream.table, absence(of: table.file, stream.subject) == nil else {
      return nil
    }
    let path = content.path.pushing(FilePath(text: table.file))
    files[part, default: []].append(path)
    var reader = try OpenFolderTable(path, table)
    var timeColumn: String?
    if case .column(let name)? = stream.time?.source { timeColumn = name }
    try reader.check(columns + [stream.file, stream.number, timeColumn].compactMap(\.self))
    var items = OpenFolderItems(table: table, clock: stream.time?.clock, pair: stream.pair)
    var values: [Value?] = []
    while let isUsable = try reader.nextRow() {
      if let problem = InputLimits.framesOfCapture.problem(reader.count) {
        throw CaptureError(file: path, problem: problem)
      }
      var item = OpenFolderItem(row: reader.count - 1)
      if isUsable {
        item.name = stream.file.flatMap(reader.text)
        item.number =
          stream.number.map { reader.text($0).flatMap { Int($0) } }
          ?? item.name.flatMap {
            OpenFolderContent.number(OpenFolderContent.digits(OpenFolderContent.stem($0)))
          }
        item.time = timeColumn.flatMap(reader.text).flatMap { time(of: $0, stream) }
      }
      items.items.append(item)
      values.append(isUsable ? value(reader) : nil)
    }
    guard !items.items.isEmpty else {
      _ = lacks(table.file, stream.subject, "it has no rows")
      return nil
    }
    report(reader, table.file)
    if reader.damaged == reader.count {
      throw CaptureError(file: path, problem: "none of its \(reader.count) rows can be read")
    }
    clean(&items, stream)
    return (items, values)
  }

  func time(of text: String, _ stream: OpenFolderDescription.Items) -> Timestamp? {
    guard let time = stream.time else { return nil }
    return Timestamp(decimal: text, scale: time.unit.scale)?
      .advanced(byNanoseconds: time.offsetNanoseconds)
  }

  mutating func report(_ reader: OpenFolderTable, _ file: String) {
    guard told.insert(file).inserted else { return }
    warnings.add(.corruptRecord, file, count: reader.damaged, "rows that cannot be read")
    if reader.isCut {
      warnings.add(.truncatedStream, file, "it ends inside a row; whole values of it are used")
      completeness.missing.append("\(file) ends inside a row.")
    }
  }

  /// Drops times that cannot be, and makes those of a rate.
  private func clean(_ items: inout OpenFolderItems, _ stream: OpenFolderDescription.Items) {
    if case .rate(let rate)? = stream.time?.source {
      items.hasMadeUpTimes = true
      let first = items.items.first?.number ?? 0
      for index in items.items.indices {
        let place = items.haveNumbers ? (items.items[index].number ?? 0) - first : index
        items.items[index].time = Timestamp(exactSeconds: Double(place) / rate)?
          .advanced(byNanoseconds: stream.time?.offsetNanoseconds ?? 0)
      }
      return
    }
    let times = items.items.compactMap(\.time)
    let bounds = TimeBounds(times)
    let far = times.count { !bounds.contains($0) }
    warnings.add(
      .corruptRecord, stream.subject, count: far, "times far away from all others; not used")
    let stale = TimeMajority.stale(times)
    warnings.add(
      .timestampsStale, stream.subject, count: stale?.count ?? 0,
      "items that share one time: the clock did not advance; not used")
    for index in items.items.indices {
      guard let time = items.items[index].time, !bounds.contains(time) || stale != nil else {
        continue
      }
      items.items[index].time = nil
    }
  }

  // MARK: Pictures

  /// The pictures of a stream and what they carry, also by the rows of its own table. An absence
  /// is told.
  private mutating func pictures(
    _ stream: OpenFolderDescription.Items, _ part: CapturePart,
    _ table: (items: OpenFolderItems, values: [Void?])?
  ) throws(CaptureError) -> (files: OpenFolderPictures, items: OpenFolderItems) {
    var media = OpenFolderItems(clock: stream.time?.clock, pair: nil)
    media.namesAreTimes = stream.time?.source == .name
    if let pattern = stream.images {
      let scale = stream.time?.source == .name ? stream.time?.unit.scale : nil
      let found = try content.files(pattern, timeScale: scale)
      warnings.add(
        .pathOutsideCapture, stream.subject, count: found.outside,
        "files that are links out of the capture's folder; not followed")
      media.items = found.items
      let offset = stream.time?.offsetNanoseconds ?? 0
      for index in media.items.indices {
        media.items[index].time = media.items[index].time?.advanced(byNanoseconds: offset)
      }
      if media.items.isEmpty {
        _ = lacks(pattern, stream.subject, "named by capture.yaml, and no such file is there")
      }
      if table == nil { clean(&media, stream) }
    } else if let table, let own = stream.table {
      var outside = 0
      var missing: [String] = []
      for item in table.items.items {
        guard let name = item.name else { continue }
        let found = content.picture(name, of: own.file)
        if found.isOutside { outside += 1 }
        guard let path = found.path else {
          if !found.isOutside { missing.append(name) }
          continue
        }
        var picture = item
        picture.name = path
        media.items.append(picture)
      }
      media.table = own
      warnings.add(
        .missingFile, stream.subject, count: missing.count,
        "pictures that rows name and that are not there")
      warnings.add(
        .pathOutsideCapture, stream.subject, count: outside,
        "rows that name a picture outside the capture's folder; not followed")
      claims.add(
        stream.subject, held: media.items.count,
        declared: media.items.count + missing.count + outside,
        by: "the rows that name pictures")
      if let first = missing.first {
        completeness.missing.append("\(missing.count) pictures of \(stream.subject) are not there.")
        completeness.absentFiles.append(first)
      }
    }
    let files = OpenFolderPictures(content: content, names: media.items.compactMap(\.name))
    self.files[part, default: []] += files.paths
    return (files, media)
  }

  /// Tells of a pairing, where it lost something or proves nothing.
  mutating func report(
    _ match: OpenFolderFrames.Match, _ subject: String, of items: Int, without: [Int]
  ) -> StreamPairing {
    if let doubt = match.doubt {
      warnings.add(.pairingApproximate, subject, count: items, doubt)
    }
    let paired = match.paired
    var (lost, held, declared) = (
      items - paired + without.count, frames.items.count - without.count, frames.items.count
    )
    var which = LossWords.without(without)
    if match.way == .time, match.doubt == nil {
      // Items between two frames have none, and lose nothing by it; as many come as there are frames, but for the ends.
      declared = match.framesOfSameRate ?? items
      (lost, held, which) = (abs(declared - items), min(items, declared), "")
      if lost == 1 { lost = 0 }
    }
    warnings.add(
      .frameCountMismatch, subject, count: lost, "\(items) items, \(declared) frames" + which)
    if lost > 0 { claims.add(subject, held: held, declared: declared, by: "the frames") }
    return StreamPairing(
      match.way, with: "frames", paired: paired, of: items, isDoubtful: match.doubt != nil)
  }

  mutating func color() -> StreamState<ColorStream> {
    guard let stream = description.color else { return .absent("capture.yaml describes no color") }
    var table: (items: OpenFolderItems, values: [Void?])?
    do throws(CaptureError) {
      table = try rows(stream, .frames) { _ in () }
      if let table { _ = frames.add(table.items, as: nil) }
    } catch {
      framesProblem = error
    }
    do throws(CaptureError) {
      if let name = stream.video { return try video(name, stream, hasRows: table != nil) }
      let (pictures, items) = try pictures(stream, .color, table)
      guard !items.items.isEmpty else {
        return .absent("no picture that capture.yaml names is there")
      }
      let match = frames.add(items, as: .color)
      // Pictures in the order of frames.
      let order = frames.color.enumerated().compactMap { frame, index in
        index.map { (frame: frame, name: pictures.names[$0]) }
      }
      let color = ColorPictures(OpenFolderPictures(content: content, names: order.map(\.name)))
      storedSize = color.head?.storedSize
      var colorStream = ColorStream(
        color, of: NumberedFiles(order.map { .init(number: $0.frame, name: $0.name) }),
        folder: stream.images ?? stream.table?.file ?? "")
      let lacking =
        stream.images == nil ? [] : frames.color.indices.filter { frames.color[$0] == nil }
      describe(
        &colorStream.description, match, stream, items.items.count, lacking,
        order.map { frames.items[$0.frame].time })
      return .present(colorStream)
    } catch {
      return .unreadable(error)
    }
  }

  mutating func describe(
    _ stream: inout StreamDescription, _ match: OpenFolderFrames.Match,
    _ items: OpenFolderDescription.Items, _ count: Int, _ lacking: [Int], _ times: [Timestamp?]
  ) {
    let pairing = report(match, items.subject, of: count, without: lacking)
    stream.pairing = match.isFirst ? nil : pairing
    let known = times.compactMap(\.self)
    stream.firstTimestamp = known.first
    stream.lastTimestamp = known.last
    stream.rateHz = TimeSteps(known).rateHz
  }

  private mutating func video(
    _ name: String, _ stream: OpenFolderDescription.Items, hasRows: Bool
  ) throws(CaptureError) -> StreamState<ColorStream> {
    if let absence = absence(of: name, "color") { return .absent(absence) }
    let path = content.path.pushing(FilePath(text: name))
    files[.color, default: []].append(path)
    guard let video = try CaptureVideo(path) else {
      throw CaptureError(file: path, problem: "it has no video track")
    }
    (track, storedSize) = (video.track, video.track.storedSize)
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
    var description = video.description()
    let lacking = frames.color.indices.filter { frames.color[$0] == nil }
    describe(
      &description, match, stream, video.pictureCount, lacking, places.map { frames.items[$0].time }
    )
    return .present(video.stream(description, framesOfPictures: places))
  }

  /// The pictures of depth or confidence with the times and numbers of their own table.
  private mutating func grid(
    _ stream: OpenFolderDescription.Items, _ part: CapturePart
  ) throws(CaptureError) -> (files: OpenFolderPictures, items: OpenFolderItems) {
    let table = try rows(stream, part) { _ in () }
    var (files, items) = try pictures(stream, part, table)
    if let table, !items.items.isEmpty {
      var local = OpenFolderFrames()
      _ = local.add(table.items, as: nil)
      let match = local.add(items, as: .color)
      if stream.images != nil {
        _ = report(match, stream.subject, of: 0, without: [])
        for (index, frame) in match.frames.enumerated() {
          guard let frame else { continue }
          items.items[index] = local.items[frame]
          items.items[index].name = files.names[index]
        }
        items.table = table.items.table
        items.clock = local.shared.clock
      }
    }
    items.pair = stream.pair
    return (files, items)
  }

  mutating func depth() -> StreamState<DepthStream> {
    guard let depth = description.depth else { return .absent("capture.yaml describes no depth") }
    do throws(CaptureError) {
      let (files, items) = try grid(depth.items, .depth)
      guard !items.items.isEmpty else { return .absent("no depth picture is there") }
      let match = frames.add(items, as: .depth)
      let values = OpenFolderDepthValues(depth)
      let grid = try OpenFolderGrid<UInt16>(files, frames.depth) {
        bytes, name, pixels throws(ImageError) in
        try values.decode(bytes, name, &pixels)
      }
      var stream = StreamDescription(
        file: depth.items.images ?? depth.items.table?.file ?? "",
        encoding: depth.raw.map { "raw-\($0.type.rawValue)" } ?? "png-u16", width: grid.size.width,
        height: grid.size.height, frames: files.count)
      let lacking = frames.depth.indices.filter { frames.depth[$0] == nil }
      describe(&stream, match, depth.items, files.count, lacking, frames.depthTimes)
      return .present(
        DepthStream(
          description: stream, width: grid.size.width, height: grid.size.height,
          access: .indexed(grid)))
    } catch {
      return .unreadable(error)
    }
  }

  private mutating func confidence() -> StreamState<ConfidenceStream> {
    guard let confidence = description.confidence else {
      return .absent("capture.yaml describes no confidence")
    }
    do throws(CaptureError) {
      let (files, items) = try grid(confidence.items, .confidence)
      guard !items.items.isEmpty else { return .absent("no confidence picture is there") }
      let match = frames.match(items)
      var indices = [Int?](repeating: nil, count: frames.items.count)
      for (index, frame) in match.frames.enumerated() {
        if let frame { indices[frame] = index }
      }
      let raw = confidence.raw
      let grid = try OpenFolderGrid<UInt8>(files, indices) {
        bytes, name, pixels throws(ImageError) in
        if let raw {
          pixels = try raw.pixels(in: bytes)
          return (raw.width, raw.height, .picture)
        }
        let image = try PNGReader.storedGray(in: bytes, file: FilePath(text: name))
        pixels = image.values
        return (image.width, image.height, .picture)
      }
      var stream = StreamDescription(
        file: confidence.items.images ?? confidence.items.table?.file ?? "",
        encoding: raw == nil ? "png-u8" : "raw-u8", width: grid.size.width,
        height: grid.size.height, frames: files.count)
      let lacking = indices.indices.filter { indices[$0] == nil && frames.depth[$0] != nil }
      let times = indices.enumerated().map { $1 == nil ? nil : frames.items[$0].time }
      describe(&stream, match, confidence.items, files.count, lacking, times)
      return .present(
        ConfidenceStream(
          description: stream, width: grid.size.width, height: grid.size.height,
          access: .indexed(grid)))
    } catch {
      return .unreadable(error)
    }
  }
}
