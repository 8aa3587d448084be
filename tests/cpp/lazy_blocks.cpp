// Lazy blocks as C functions, for tests against the dense form.
#include "core/geometry/lazy_blocks.hpp"

namespace {

using hinge::Index;
using hinge::LazyBlocks;

hinge::Row<double> row(const LazyBlocks<double>& blocks, const double* x) {
    return {nullptr, x + 1, blocks.features(), x[0]};
}

}  // namespace

extern "C" {

void* blocks_new(int sequences) { return new LazyBlocks<double>(1, sequences); }
void blocks_free(void* handle) { delete static_cast<LazyBlocks<double>*>(handle); }
void blocks_grow(void* handle, Index features, Index outputs) {
    static_cast<LazyBlocks<double>*>(handle)->grow(features, outputs);
}
void blocks_erase(void* handle, Index output) { static_cast<LazyBlocks<double>*>(handle)->erase_output(output); }
int blocks_rebased(void* handle) { return static_cast<LazyBlocks<double>*>(handle)->rebased(); }

// One round: sequences x sequences values of decay, `sequences` of push, the constant feature and the instance, and a
// value an output. Where `mean` is not negative, that sequence is the mean of sequence 0 over `rounds` rounds.
void blocks_round(void* handle, const double* decay, const double* push, const double* x, const double* delta,
                  int sparse, int mean, int before, double rounds) {
    auto& blocks = *static_cast<LazyBlocks<double>*>(handle);
    hinge::Motion motion;
    for (int r = 0; r < blocks.sequences(); ++r) {
        for (int s = 0; s < blocks.sequences(); ++s) motion.decay[r][static_cast<std::size_t>(s)] = *decay++;
        motion.gain(r) = *push++;
    }
    if (mean >= 0) before ? motion.mean_before(mean, 0, rounds) : motion.mean_after(mean, 0, rounds);
    blocks.decay(motion);
    if (sparse) {
        hinge::Step step;
        for (Index y = 0; y < blocks.outputs(); ++y)
            if (delta[y] != 0) step.set(y, delta[y]);
        blocks.push(row(blocks, x), step);
    } else {
        std::vector<double> padded(static_cast<std::size_t>(blocks.width()));
        std::copy_n(delta, blocks.outputs(), padded.begin());
        blocks.push(row(blocks, x), padded.data());
    }
}

// The weights of a sequence, output by output, the constant feature first.
void blocks_weights(void* handle, int sequence, double* out) {
    const auto& blocks = *static_cast<LazyBlocks<double>*>(handle);
    for (Index y = 0; y < blocks.outputs(); ++y)
        for (Index j = -1; j < blocks.features(); ++j) *out++ = blocks.value(sequence, j, y);
}

void blocks_scores(void* handle, int sequence, const double* x, double* out) {
    const auto& blocks = *static_cast<LazyBlocks<double>*>(handle);
    std::vector<double> room(static_cast<std::size_t>(blocks.row_width())), scores(static_cast<std::size_t>(blocks.width()));
    blocks.score(row(blocks, x), sequence, room.data(), scores.data());
    std::copy_n(scores.data(), blocks.outputs(), out);
}

double blocks_squares(void* handle, int sequence) {
    return static_cast<LazyBlocks<double>*>(handle)->sum_of_squares(sequence);
}

}
