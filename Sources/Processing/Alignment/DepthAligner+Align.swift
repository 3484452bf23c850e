import Core

extension DepthAligner {
  /// Aligns one frame: `depth` in millimeters, row-major, 0 = no measurement, into `output`, which gets
  /// the size of `outputIntrinsics`.
  ///
  /// Throws `frameSize` unless `depth` has the number of pixels of `depthSize`. Cost at 640×480 →
  /// 1296×968: some milliseconds, see the bench.
  public func align(
    _ depth: Span<UInt16>, scratch: inout AlignmentScratch, into output: inout [UInt16]
  ) throws(AlignmentError) {
    try check(depth)
    depth.withUnsafeBufferPointer { depth in
      withUnturnedOutput(&scratch, &output) { scratch, output in
        draw(depth, &scratch, &output)
      }
    }
  }

  /// Aligns depth in an array.
  public func align(
    _ depth: [UInt16], scratch: inout AlignmentScratch, into output: inout [UInt16]
  ) throws(AlignmentError) {
    try align(depth.span, scratch: &scratch, into: &output)
  }

  func check(_ depth: Span<UInt16>) throws(AlignmentError) {
    guard depth.count == depthSize.width * depthSize.height else {
      throw .frameSize(pixels: depth.count, expected: depthSize)
    }
  }

  /// Calls `body` with the array to draw the unturned picture into, then turns the picture into the
  /// output.
  func withUnturnedOutput(
    _ scratch: inout AlignmentScratch, _ output: inout [UInt16],
    _ body: (inout AlignmentScratch, inout [UInt16]) -> Void
  ) {
    AlignmentScratch.fit(&output, unturnedSize.width * unturnedSize.height)
    guard clockwiseQuarterTurns != 0 else { return body(&scratch, &output) }
    var unturned: [UInt16] = []
    swap(&unturned, &scratch.unturned)
    AlignmentScratch.fit(&unturned, output.count)
    body(&scratch, &unturned)
    turnClockwise(
      unturned, width: unturnedSize.width, quarterTurns: clockwiseQuarterTurns, into: &output)
    swap(&unturned, &scratch.unturned)
  }

  private func draw(
    _ depth: UnsafeBufferPointer<UInt16>, _ scratch: inout AlignmentScratch,
    _ output: inout [UInt16]
  ) {
    if method.copies {
      for i in output.indices { output[i] = depth[i] }
      return
    }
    let width = unturnedSize.width
    let bandRows = InverseDepthTarget.largestRows(width: width, rows: unturnedSize.height)
    AlignmentScratch.fit(&scratch.vertices, vertexRowLength * Self.vertexRows)
    AlignmentScratch.fit(
      &scratch.inverseDepth, InverseDepthTarget.count(width: width, rows: bandRows))
    AlignmentScratch.fit(&scratch.records, PixelRecords.capacity)
    scratch.withBuffers { vertices, inverseDepth, records in
      output.withUnsafeMutableBufferPointer { output in
        guard let depth = depth.baseAddress, let output = output.baseAddress else { return }
        for first in stride(from: 0, to: unturnedSize.height, by: bandRows) {
          let target = InverseDepthTarget(
            storage: inverseDepth, width: width,
            rows: first..<min(first + bandRows, unturnedSize.height))
          drawRows(depth, vertices, records, into: target)
          InverseDepthTarget.convert(
            inverseDepth, width: width, rows: target.rows.count, into: output + first * width)
        }
      }
    }
  }

  /// Values of one vertex row, and the number of rows that are kept at a time.
  var vertexRowLength: Int { VertexProjector.streams * projector.stride }
  static var vertexRows: Int { 3 }

  /// Projects and draws row after row.
  func drawRows(
    _ depth: UnsafePointer<UInt16>, _ vertices: UnsafeMutablePointer<Float>,
    _ records: UnsafeMutablePointer<Float>, into target: InverseDepthTarget
  ) {
    rays.values.withUnsafeBufferPointer { rays in
      guard let rays = rays.baseAddress else { return }
      let rayRow = RayTable.rowLength(stride: projector.stride)
      var row = vertices
      var previous = vertices + vertexRowLength
      var cleared = 0
      for j in 0..<depthSize.height {
        let depth = depth + j * depthSize.width
        let lowest = projector.project(depth: depth, rays: rays + j * rayRow, into: row)
        target.clear(downTo: lowest, &cleared)
        switch method {
        case .copy: break
        case .mesh(let kernel):
          if j > 0, touches(target, row, previous) {
            kernel.draw(
              top: previous, bottom: row, into: target, records: records,
              nextRays: rays + min(j + 1, depthSize.height - 1) * rayRow)
          }
          swap(&row, &previous)
        case .points(let kernel):
          kernel.drawPoints(row, into: target)
        case .rectangle(let kernel, let corners, let oppositeCorners):
          let opposite = vertices + 2 * vertexRowLength
          let a = project(depth, corners, row: j, into: previous)
          let b = project(depth, oppositeCorners, row: j, into: opposite)
          target.clear(downTo: max(a, b), &cleared)
          kernel.drawRectangles(
            centers: row, corners: previous, oppositeCorners: opposite, into: target)
        }
      }
      target.clear(downTo: .infinity, &cleared)
    }
  }

  private func project(
    _ depth: UnsafePointer<UInt16>, _ table: RayTable, row j: Int,
    into row: UnsafeMutablePointer<Float>
  ) -> Float {
    table.values.withUnsafeBufferPointer { rays in
      guard let rays = rays.baseAddress else { return 0 }
      return projector.project(
        depth: depth, rays: rays + j * RayTable.rowLength(stride: projector.stride), into: row)
    }
  }

  /// Whether quads between two vertex rows may touch a target that is a part of the picture.
  private func touches(
    _ target: InverseDepthTarget, _ row: UnsafePointer<Float>, _ previous: UnsafePointer<Float>
  ) -> Bool {
    if target.rows.count == unturnedSize.height { return true }
    let (a, b) = (projector.lines(of: row), projector.lines(of: previous))
    return max(a.last, b.last) >= Float(target.rows.lowerBound)
      && min(a.first, b.first) <= Float(target.rows.upperBound - 1)
  }
}

extension AlignmentScratch {
  /// Calls `body` with the buffers of one thread, which already have their sizes.
  fileprivate mutating func withBuffers(
    _ body: (
      _ vertices: UnsafeMutablePointer<Float>, _ inverseDepth: UnsafeMutablePointer<Float>,
      _ records: UnsafeMutablePointer<Float>
    ) -> Void
  ) {
    vertices.withUnsafeMutableBufferPointer { vertices in
      inverseDepth.withUnsafeMutableBufferPointer { inverseDepth in
        records.withUnsafeMutableBufferPointer { records in
          guard let vertices = vertices.baseAddress, let inverseDepth = inverseDepth.baseAddress,
            let records = records.baseAddress
          else { return }
          body(vertices, inverseDepth, records)
        }
      }
    }
  }
}
