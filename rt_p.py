b0 = sch.get_sblock(name="block", func_name="main")
sch.transform_layout(block=b0, buffer=("write", 0), index_map=lambda i: ((i // 4), (i % 4),), pad_value=lambda i, j: ((i + j),), assume_injective_transform=False)
