"""Mini-batches as message-flow graphs."""

from __future__ import annotations

import pytest
import torch

import gnomon.nn
from gnomon import InvalidInput
from gnomon.blocks import Loader
from gnomon.pyg import NeighborLoader

OPTIONS = {"batch_size": 100, "shuffle": True, "seed": 7, "num_workers": 2}


@pytest.mark.parametrize("expand", ["every_hop", "once"])
def test_blocks_fit_together(data, expand):
    degrees = torch.bincount(data.edge_index[1], minlength=data.num_nodes)
    seen = []
    for input_nodes, output_nodes, blocks in Loader(data, [3, 5], data.train_mask, expand=expand, **OPTIONS):
        first, last = blocks
        assert torch.equal(input_nodes, first.src_nodes) and torch.equal(output_nodes, last.dst_nodes)
        assert torch.equal(first.dst_nodes, last.src_nodes)
        for block in blocks:
            assert torch.equal(block.src_nodes[: block.num_dst_nodes], block.dst_nodes)
            ends = torch.stack([block.src_nodes[block.edge_index[0]], block.dst_nodes[block.edge_index[1]]])
            assert torch.equal(data.edge_index[:, block.edge_ids], ends)
            assert torch.equal(block.edata["edge_attr"], data.edge_attr[block.edge_ids])
        found = torch.bincount(last.edge_index[1], minlength=last.num_dst_nodes)
        assert torch.equal(found, degrees[output_nodes].clamp(max=5))
        if expand == "every_hop":
            found = torch.bincount(first.edge_index[1], minlength=first.num_dst_nodes)
            assert torch.equal(found, degrees[first.dst_nodes].clamp(max=3))
        assert torch.equal(first.srcdata["x"], data.x[input_nodes])
        assert torch.equal(last.dstdata["y"], data.y[output_nodes])
        assert not first.dstdata and not last.srcdata
        seen.append(output_nodes)
    assert torch.equal(torch.cat(seen).sort().values, data.train_mask.nonzero().view(-1))


def test_layers_take_blocks(data):
    torch.manual_seed(0)
    layers = [gnomon.nn.SAGEConv(16, 8), gnomon.nn.SAGEConv(8, 5)]
    loader = Loader(data, [-1, -1], range(200), batch_size=100)
    assert len(loader) == 2
    x = layers[1](layers[0](data.x, data.edge_index).relu(), data.edge_index)  # of the whole graph
    for _, output_nodes, blocks in loader:
        out = layers[0](blocks[0].srcdata["x"], blocks[0].block).relu()
        out = layers[1](out, blocks[1].block)
        torch.testing.assert_close(out, x[output_nodes], rtol=1e-4, atol=1e-5)


def test_same_batches_as_the_loader_of_pyg(data):
    ours = Loader(data, [3, 5], **OPTIONS)
    theirs = NeighborLoader(data, [5, 3], expand="every_hop", **OPTIONS)
    for (input_nodes, _, blocks), batch in zip(ours, theirs, strict=True):
        assert torch.equal(input_nodes, batch.n_id)
        assert torch.equal(torch.cat([block.edge_ids for block in reversed(blocks)]), batch.e_id)
        assert torch.equal(blocks[0].to("cpu").edge_index, blocks[0].edge_index)


def test_blocks_of_dgl(data):
    dgl = pytest.importorskip("dgl", reason="DGL is not installed")
    for input_nodes, output_nodes, blocks in Loader(data, [3, 5], batch_size=500):
        first, last = (block.to_dgl() for block in blocks)
        assert first.is_block and torch.equal(first.srcdata[dgl.NID], input_nodes)
        assert torch.equal(last.dstdata[dgl.NID], output_nodes)
        assert torch.equal(first.edata[dgl.EID], blocks[0].edge_ids)
        layer = dgl.nn.SAGEConv(16, 4, "mean")
        same = gnomon.nn.SAGEConv(16, 4, bias=True)
        with torch.no_grad():
            same.lin_l.weight.copy_(layer.fc_neigh.weight)
            same.lin_r.weight.copy_(layer.fc_self.weight)
            same.lin_l.bias.copy_(layer.fc_self.bias if layer.fc_self.bias is not None else layer.bias)
        x = first.srcdata["x"]
        expected = layer(first, (x, x[: first.num_dst_nodes()]))
        torch.testing.assert_close(same(x, blocks[0].block), expected, rtol=1e-4, atol=1e-5)


def test_wrong_input(data):
    for arguments in ({"subgraph_type": "induced"}, {"expand": "twice"}, {"batch_size": 0}):
        with pytest.raises(InvalidInput, match=next(iter(arguments))):
            Loader(data, [3], **arguments)
    with pytest.raises(InvalidInput, match="fanouts"):
        Loader(data, 3)
