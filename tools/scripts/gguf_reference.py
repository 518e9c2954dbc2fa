"""What llama.cpp makes of a small random model: the reference of the tests of agent/llm/src/gguf.

    pip install xllamacpp==2026.10.11549 gguf==0.19.0 numpy
    python tools/scripts/gguf_reference.py [--check]

Makes agent/llm/tests/reference/gguf/random.gguf, a llama of two layers with random weights, whose four heads share two heads of
keys, and random-q8_0.gguf, the same in 8 bits, and puts llama.cpp's HTTP server (xllamacpp) before them. Written
beside it, reference.json: tokens of texts, how its Jinja writes conversations by known chat templates, and for some prompts the
greedy reply with the ten best log-probabilities at every token. --check compares with what is there instead of writing.
"""

import argparse
import json
import sys
import tempfile
import urllib.request
from pathlib import Path

try:
    import gguf
    import numpy as np
    import xllamacpp
except ImportError as error:
    sys.exit(f"NOT RUN: {error}; pip install xllamacpp gguf numpy")

FOLDER = Path("agent/llm/tests/reference/gguf")
WIDTH, HIDDEN, HEADS, SHARED, LAYERS, CONTEXT = 32, 64, 4, 2, 2, 512
MODELS = {"random.gguf": False, "random-q8_0.gguf": True}
# Found by trial: its replies have no bytes and many tokens.
SEED = 22
WORDS = """the net sales of 2019 2018 was were revenue total in million and for node nodes segments answer table row column user
assistant system </think> <|im <|im_ est""".split()
TEXTS = ["", " ", "Hello", "the net sales of 2019", "  two  blanks", "line\nbreak\ttab", "née Ünïcode 漢字 🎉", "</s> <s> is text",
         "total revenue\u2581in", "aaaaaaaaaaaaaaaaaaaaaaaaa", "t0:r1c1 \"$ 5,735\" | p4"]
CONVERSATIONS = [
    [("user", "What was the net sales of 2019?")],
    [("system", "You answer."), ("user", "total revenue in 2018?")],
    [("system", "You answer."), ("user", "a"), ("assistant", "b"), ("user", "c </s> d")],
]
TEMPLATES = {
    "chatml": "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}"
              "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}",
    "zephyr": "{% for message in messages %}\n{% if message['role'] == 'user' %}\n{{ '<|user|>\n' + message['content'] + eos_token }}\n"
              "{% elif message['role'] == 'system' %}\n{{ '<|system|>\n' + message['content'] + eos_token }}\n{% elif "
              "message['role'] == 'assistant' %}\n{{ '<|assistant|>\n'  + message['content'] + eos_token }}\n{% endif %}\n{% if "
              "loop.last and add_generation_prompt %}\n{{ '<|assistant|>' }}\n{% endif %}\n{% endfor %}",
    "llama2": "{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}{% set system_message = "
              "messages[0]['content'] %}{% else %}{% set loop_messages = messages %}{% set system_message = false %}{% endif %}"
              "{% for message in loop_messages %}{% if loop.index0 == 0 and system_message != false %}{% set content = "
              "'<<SYS>>\\n' + system_message + '\\n<</SYS>>\\n\\n' + message['content'] %}{% else %}{% set content = "
              "message['content'] %}{% endif %}{% if message['role'] == 'user' %}{{ bos_token + '[INST] ' + content.strip() + "
              "' [/INST]' }}{% elif message['role'] == 'assistant' %}{{ ' '  + content.strip() + ' ' + eos_token }}{% endif %}"
              "{% endfor %}",
    "llama3": "{% set loop_messages = messages %}{% for message in loop_messages %}{% set content = '<|start_header_id|>' + "
              "message['role'] + '<|end_header_id|>\n\n'+ message['content'] | trim + '<|eot_id|>' %}{% if loop.index0 == 0 %}{% "
              "set content = bos_token + content %}{% endif %}{{ content }}{% endfor %}{% if add_generation_prompt %}{{ "
              "'<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}",
}


def vocabulary():
    pieces = [("<unk>", 0.0, gguf.TokenType.UNKNOWN), ("<s>", 0.0, gguf.TokenType.CONTROL), ("</s>", 0.0, gguf.TokenType.CONTROL),
              ("<|im_end|>", 0.0, gguf.TokenType.CONTROL)]
    pieces += [(f"<0x{byte:02X}>", 0.0, gguf.TokenType.BYTE) for byte in range(256)]
    known = ["\u2581"] + [chr(code) for code in range(33, 127)] + ["é", "aa", "aaa", "aaaa", "\u2581\u2581"]
    for word in WORDS:
        known += [word[:end] for end in range(2, len(word) + 1)] + ["\u2581" + word[:end] for end in range(1, len(word) + 1)]
    known = list(dict.fromkeys(known))
    return pieces + [(piece, -float(number), gguf.TokenType.NORMAL) for number, piece in enumerate(known)]


def write_model(path, quantised=False, template=None, seed=SEED):
    random = np.random.default_rng(seed)
    pieces = vocabulary()
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_name("random")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(SHARED)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_rope_freq_base(10000.0)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(pieces))
    writer.add_tokenizer_model("llama")
    writer.add_token_list([piece for piece, _, _ in pieces])
    writer.add_token_scores([score for _, score, _ in pieces])
    writer.add_token_types([int(kind) for _, _, kind in pieces])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_add_bos_token(True)
    writer.add_add_space_prefix(True)
    if template:
        writer.add_chat_template(template)

    def add(name, rows, columns, scale):
        values = (random.standard_normal((rows, columns)) * scale / np.sqrt(columns)).astype(np.float32)
        # The first component is the same in all tokens and no layer writes to it: with it bytes and control tokens become
        # unlikely, of which the server tells no probabilities.
        if name == "token_embd.weight":
            values[:, 0] = 1
        elif name == "output.weight":
            values[:, 0] = [0 if kind == gguf.TokenType.NORMAL else -20 for _, _, kind in pieces]
        elif name.endswith(("attn_output.weight", "ffn_down.weight")):
            values[0] = 0
        if quantised:
            kind = gguf.GGMLQuantizationType.Q8_0
            writer.add_tensor(name, gguf.quants.quantize(values, kind), raw_dtype=kind)
        else:
            writer.add_tensor(name, values)

    keys = WIDTH // HEADS * SHARED
    add("token_embd.weight", len(pieces), WIDTH, 4)
    add("output.weight", len(pieces), WIDTH, 4)
    writer.add_tensor("output_norm.weight", np.ones(WIDTH, np.float32))
    for layer in range(LAYERS):
        for name in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"blk.{layer}.{name}.weight", 1 + 0.2 * random.standard_normal(WIDTH).astype(np.float32))
        for name, rows in (("attn_q", WIDTH), ("attn_k", keys), ("attn_v", keys), ("attn_output", WIDTH)):
            add(f"blk.{layer}.{name}.weight", rows, WIDTH, 2)
        for name in ("ffn_gate", "ffn_up"):
            add(f"blk.{layer}.{name}.weight", HIDDEN, WIDTH, 2)
        add(f"blk.{layer}.ffn_down.weight", WIDTH, HIDDEN, 2)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def serve(path):
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx = CONTEXT
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    params.warmup = False
    params.port = 0
    params.verbosity = -1
    params.cache_type_k = params.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
    params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    return xllamacpp.Server(params)


def post(server, path, body):
    request = urllib.request.Request(server.listening_address + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def messages(conversation):
    return [{"role": role, "content": content} for role, content in conversation]


def completion(server, conversation):
    """A greedy reply of 24 tokens, one request a token: in a longer reply the server joins what is no character yet."""
    written = post(server, "/apply-template", {"messages": messages(conversation)})["prompt"]
    prompt = post(server, "/tokenize", {"content": written, "add_special": True, "parse_special": True})["tokens"]
    tokens = []
    for _ in range(24):
        body = {"prompt": prompt + [token["id"] for token in tokens], "temperature": 0, "n_predict": 1, "n_probs": 10,
                "cache_prompt": False, "return_tokens": True}
        [told] = post(server, "/completion", body)["completion_probabilities"]
        tokens.append({"id": told["id"], "top": {str(other["id"]): round(other["logprob"], 6) for other in told["top_logprobs"]}})
        if told["id"] == 2:
            break
    return {"prompt": prompt, "reply": tokens}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    work = Path(tempfile.mkdtemp())
    reference = {"llama.cpp": f"xllamacpp {xllamacpp.__version__}", "tokens": [], "conversations": [], "templates": []}
    for name, quantised in MODELS.items():
        write_model(work / name, quantised)
        server = serve(work / name)
        for conversation in CONVERSATIONS[:2]:
            answered = {"model": name, "messages": messages(conversation), **completion(server, conversation)}
            reference["conversations"].append(answered)
    for text in TEXTS:
        tokens = post(server, "/tokenize", {"content": text, "add_special": True, "parse_special": False})["tokens"]
        reference["tokens"].append({"text": text, "tokens": tokens})
    for name, template in TEMPLATES.items():
        path = work / f"{name}.gguf"
        write_model(path, template=template)
        other = serve(path)
        for conversation in CONVERSATIONS:
            written = post(other, "/apply-template", {"messages": messages(conversation)})["prompt"]
            reference["templates"].append({"template": template, "messages": messages(conversation), "prompt": written})
    files = {name: (work / name).read_bytes() for name in MODELS}
    files["reference.json"] = (json.dumps(reference, ensure_ascii=False) + "\n").encode()
    if args.check:
        different = [name for name, content in files.items() if (FOLDER / name).read_bytes() != content]
        print(f"DIFFERENT from what is there: {', '.join(different)}" if different else "as it is there")
        sys.exit(1 if different else 0)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (FOLDER / name).write_bytes(content)
    print(f"{', '.join(f'{name} {len(content):,} bytes' for name, content in files.items())}")


if __name__ == "__main__":
    main()
