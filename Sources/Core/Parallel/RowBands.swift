/// Splits `rows` rows of `rowLength` elements into at most `bands` bands of neighboring rows and
/// runs `body(rowRange, elements)` for all bands in parallel.
///
/// `elements` starts at the first element of the band; no two bands share an element. Bands differ
/// by at most one row. With one band the call is a plain call.
public func withConcurrentRowBands<Element: BitwiseCopyable & Sendable>(
  of array: inout [Element], rows: Int, rowLength: Int, bands: Int,
  _ body: @Sendable (Range<Int>, inout MutableSpan<Element>) -> Void
) {
  precondition(array.count >= rows * rowLength)
  let bands = max(1, min(bands, rows))
  array.withUnsafeMutableBufferPointer { buffer in
    let shared = DisjointBuffer(buffer: buffer)
    withoutActuallyEscaping(body) { body in
      HelperThreads.perform(bands) { band, _ in
        let range = (rows * band / bands)..<(rows * (band + 1) / bands)
        shared.withSlice((range.lowerBound * rowLength)..<(range.upperBound * rowLength)) {
          var span = $0.mutableSpan
          body(range, &span)
        }
      }
    }
  }
}

/// A buffer whose slices are handed to several threads; callers ask for slices that do not overlap.
private struct DisjointBuffer<Element> {
  // Safe: `withConcurrentRowBands` is the only caller and its row ranges are disjoint.
  nonisolated(unsafe) let buffer: UnsafeMutableBufferPointer<Element>

  func withSlice(_ range: Range<Int>, _ body: (UnsafeMutableBufferPointer<Element>) -> Void) {
    body(UnsafeMutableBufferPointer(rebasing: buffer[range]))
  }
}
