"""The `bahdanau` model in plain PyTorch, with the weights of a regard model file.

Written as a careful user would write it: nn.GRU for the encoder, a Python loop over target steps
with nn.GRUCell, keys projected once, read-out and vocabulary products once over all real target
tokens, fused Adam. Letters in comments: B pairs, S and T longest source and target, E embedding, H
encoder (one direction), M = 2H, U decoder, A attention, V target vocabulary.
"""

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


def _linear(weight, bias=None):
    layer = nn.Linear(weight.shape[1], weight.shape[0], bias=bias is not None)
    layer.weight.data.copy_(weight)
    if bias is not None:
        layer.bias.data.copy_(bias.flatten())
    return layer


class Bahdanau(nn.Module):
    """c_i = attend(s_{i-1}); s_i = GRU(s_{i-1}, [E y_{i-1}; c_i]); t_i = tanh(W1 s_i + W2 E y_{i-1}
    + W3 c_i + b); log p(y_i) = log_softmax(W_o t_i + b_o)."""

    def __init__(self, tensors, dropout=0.0, packed=False):
        """`tensors`: name to tensor, as in the file. `packed`: the encoder skips padding."""
        super().__init__()
        w = {name: value for name, value in tensors.items() if value.dtype == torch.float32}
        self.dropout, self.packed = dropout, packed
        self.source_embedding = nn.Embedding.from_pretrained(w["source.embedding"], freeze=False)
        self.target_embedding = nn.Embedding.from_pretrained(w["target.embedding"], freeze=False)

        hidden = w["encoder.layer1.forward.state"].shape[1]
        self.encoder = nn.GRU(w["source.embedding"].shape[1], hidden, bidirectional=True)
        for direction, suffix in (("forward", ""), ("backward", "_reverse")):
            name = "encoder.layer1." + direction
            for ours, theirs in ((".input.embedding", "weight_ih"), (".state", "weight_hh"),
                                 (".input_bias", "bias_ih"), (".state_bias", "bias_hh")):
                parameter = getattr(self.encoder, f"{theirs}_l0{suffix}")
                parameter.data.copy_(w[name + ours].reshape(parameter.shape))

        name = "decoder.layer1"
        blocks = torch.cat([w[name + ".input.embedding"], w[name + ".input.context"]], dim=1)
        self.cell = nn.GRUCell(blocks.shape[1], w[name + ".state"].shape[1])
        self.cell.weight_ih.data.copy_(blocks)
        self.cell.weight_hh.data.copy_(w[name + ".state"])
        self.cell.bias_ih.data.copy_(w[name + ".input_bias"].flatten())
        self.cell.bias_hh.data.copy_(w[name + ".state_bias"].flatten())

        self.start = _linear(w["decoder.start1.weight"], w["decoder.start1.bias"])
        self.query = _linear(w["attention.query.weight"])
        self.key = _linear(w["attention.key.weight"])
        self.v = nn.Parameter(w["attention.v"].flatten().clone())
        self.read_state = _linear(w["readout.state"], w["readout.bias"])
        self.read_embedding = _linear(w["readout.embedding"])
        self.read_context = _linear(w["readout.context"])
        self.output = _linear(w["output.weight"], w["output.bias"])

    def drop(self, x):
        return F.dropout(x, self.dropout, self.training) if self.dropout > 0 else x

    def encode(self, batch):
        """Memory [B,S,M] and the states that a direction ends with, [B,M]."""
        embedded = self.drop(self.source_embedding(batch.source))  # [S,B,E]
        if self.packed:
            rows = pack_padded_sequence(embedded, batch.source_length, enforce_sorted=False)
            memory, last = self.encoder(rows)
            memory, _ = pad_packed_sequence(memory)
        else:
            memory, last = self.encoder(embedded)
        memory = self.drop(memory.transpose(0, 1))
        return memory, torch.cat([last[0], last[1]], dim=1)

    def forward(self, batch):
        """The sum of -log p over the real target tokens."""
        memory, summary = self.encode(batch)
        keys = self.key(memory)  # [B,S,A]
        embedded = self.drop(self.target_embedding(batch.target_in))  # [T,B,E]
        state = torch.tanh(self.start(summary))
        states, contexts = [], []
        for step in embedded:
            scores = torch.tanh(keys + self.query(state).unsqueeze(1)) @ self.v  # [B,S]
            weights = torch.softmax(scores + batch.source_mask, dim=1)
            context = torch.bmm(weights.unsqueeze(1), memory).squeeze(1)
            state = self.cell(torch.cat([step, context], dim=1), state)
            states.append(state)
            contexts.append(context)
        real = batch.target_rows  # padding takes no part in the products below
        readout = (self.read_state(torch.stack(states).flatten(0, 1)[real])
                   + self.read_embedding(embedded.flatten(0, 1)[real])
                   + self.read_context(torch.stack(contexts).flatten(0, 1)[real]))
        logits = self.output(self.drop(torch.tanh(readout)))
        return F.cross_entropy(logits, batch.target_out, reduction="sum")


class Batch:
    """Padded ids of one batch, made before anything is timed."""

    def __init__(self, source, target):
        """`source`: x_1 .. x_S, end included; `target`: y_0 .. y_T, begin and end included."""
        end = source[0][-1]
        longest = max(map(len, source))
        rows = [ids + [end] * (longest - len(ids)) for ids in source]
        self.source = torch.tensor(rows).t().contiguous()  # [S,B]
        self.source_length = torch.tensor([len(ids) for ids in source])
        padding = torch.arange(longest) >= self.source_length.unsqueeze(1)
        self.source_mask = torch.zeros(padding.shape).masked_fill_(padding, float("-inf"))
        length = torch.tensor([len(ids) - 1 for ids in target])
        steps = int(length.max())
        rows = torch.tensor([ids + [end] * (steps + 1 - len(ids)) for ids in target]).t()
        self.target_in = rows[:-1].contiguous()  # [T,B]
        real = torch.arange(steps).unsqueeze(1) < length
        self.target_rows = real.flatten().nonzero().flatten()
        self.target_out = rows[1:].flatten()[self.target_rows]
        self.tokens = int(self.source_length.sum() + length.sum())


class Trainer:
    """One update after another, as regard's: mean over target tokens, norm clipped at 1, Adam."""

    def __init__(self, tensors, dropout=0.0, packed=False, learning_rate=1e-3):
        self.model = Bahdanau(tensors, dropout, packed).train()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=learning_rate, fused=True)

    def update(self, batch, with_norm=False):
        """The mean loss before the step, and with `with_norm` the norm of its gradient before
        clipping, in double: over a large tensor, that of clip_grad_norm_ is off by up to 1e-3."""
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.model(batch) / len(batch.target_out)
        loss.backward()
        norm = None
        if with_norm:
            norm = sum(float((p.grad.double() ** 2).sum()) for p in self.model.parameters()) ** 0.5
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return loss.item(), norm
