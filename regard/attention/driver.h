// What the forward and backward drivers share.
#pragma once

#include <cmath>

#include "regard/attention/additive.h"
#include "regard/attention/attention.h"
#include "regard/attention/combine.h"

namespace regard::attention {

// What a dot product is multiplied by.
inline float dot_factor(const PreparedKeys& keys) {
  if (keys.score.kind != ScoreKind::kScaledDot || keys.width == 0) return keys.score.scale;
  return keys.score.scale / std::sqrt(static_cast<float>(keys.width));
}

inline AdditiveKeys additive_keys(const PreparedKeys& keys, Index sentence) {
  AdditiveKeys out;
  out.count = keys.rows.length[sentence];
  out.exponentials = keys.exponentials + keys.first[sentence] * keys.padded_width;
  out.raw = out.count == 0 ? nullptr : keys.keys.row(keys.rows.start[sentence]);
  out.raw_stride = keys.keys.stride;
  out.width = keys.width;
  out.padded = keys.padded_width;
  out.v = keys.v;
  out.minus_two_v = keys.minus_two_v;
  out.v_in_range = keys.v_in_range;
  out.extrema = keys.extrema[sentence];
  return out;
}

// The live rows of a sentence in a matrix laid out as its keys.
inline Rows live_rows(ConstMatrix matrix, const RaggedRows& rows, Index sentence) {
  const Index count = rows.length[sentence];
  return {count == 0 ? nullptr : matrix.row(rows.start[sentence]), matrix.stride, count,
          matrix.cols};
}

// The extents of queries and values against the keys.
void check_call(const char* function, const PreparedKeys& keys, ConstMatrix values,
                const QueryRows& queries);

// The queries as the dot product wants them: projected by w for kGeneral.
ConstMatrix scored_query(const PreparedKeys& keys, ConstMatrix query, Arena& workspace);

}  // namespace regard::attention
