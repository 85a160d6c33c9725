/**
 * A real feature-extraction model of some hundred bytes: each word of its vocabulary has a vector, and a text is a list of
 * them. ONNX is protocol buffers; the few fields that are needed are written by hand.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Unknown words have no direction. */
const VOCABULARY: Readonly<Record<string, readonly [number, number, number, number]>> = {
  '[PAD]': [0, 0, 0, 0],
  '[UNK]': [0, 0, 0, 0],
  memory: [1, 0, 0, 0],
  login: [0, 3, 0, 0],
  token: [0, 4, 1, 0],
  cake: [0, 0, 0, 2],
}
export const TINY_DIMENSIONS = 4
export const TINY_MAX_TOKENS = 8

const INT64 = 7
const FLOAT = 1

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)]
}

const number = (field: number, value: number) => Buffer.from([...varint(field << 3), ...varint(value)])
const bytes = (field: number, value: Buffer | string) => {
  const content = Buffer.from(value)
  return Buffer.concat([Buffer.from([...varint((field << 3) | 2), ...varint(content.length)]), content])
}
const message = (...fields: Buffer[]) => Buffer.concat(fields)

/** `name: type[batch, sequence, …]`. */
function value(name: string, type: number, dimensions: readonly (string | number)[]): Buffer {
  const shape = dimensions.map((size) => bytes(1, typeof size === 'number' ? number(1, size) : bytes(2, size)))
  return message(bytes(1, name), bytes(2, bytes(1, message(number(1, type), bytes(2, message(...shape))))))
}

export function tinyOnnx(): Buffer {
  const rows = Object.values(VOCABULARY)
  const weights = Buffer.from(Float32Array.from(rows.flat()).buffer)
  const tensor = message(
    number(1, rows.length),
    number(1, TINY_DIMENSIONS),
    number(2, FLOAT),
    bytes(8, 'words'),
    bytes(9, weights),
  )
  const gather = message(bytes(1, 'words'), bytes(1, 'input_ids'), bytes(2, 'last_hidden_state'), bytes(4, 'Gather'))
  const graph = message(
    bytes(1, gather),
    bytes(2, 'tiny'),
    bytes(5, tensor),
    bytes(11, value('input_ids', INT64, ['batch', 'sequence'])),
    bytes(11, value('attention_mask', INT64, ['batch', 'sequence'])),
    bytes(12, value('last_hidden_state', FLOAT, ['batch', 'sequence', TINY_DIMENSIONS])),
  )
  return message(number(1, 8), bytes(7, graph), bytes(8, number(2, 13)))
}

/** By path below the model's folder. */
export function tinyModelFiles(): Map<string, Buffer> {
  const json = (content: unknown) => Buffer.from(JSON.stringify(content))
  const special = (id: number, content: string) => ({
    id,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: true,
  })
  return new Map([
    ['config.json', json({ model_type: 'bert', architectures: ['BertModel'], hidden_size: TINY_DIMENSIONS })],
    [
      'tokenizer.json',
      json({
        version: '1.0',
        truncation: null,
        padding: null,
        added_tokens: [special(0, '[PAD]'), special(1, '[UNK]')],
        normalizer: { type: 'Lowercase' },
        pre_tokenizer: { type: 'Whitespace' },
        post_processor: null,
        decoder: null,
        model: {
          type: 'WordLevel',
          vocab: Object.fromEntries(Object.keys(VOCABULARY).map((word, id) => [word, id])),
          unk_token: '[UNK]',
        },
      }),
    ],
    [
      'tokenizer_config.json',
      json({
        tokenizer_class: 'PreTrainedTokenizerFast',
        model_max_length: TINY_MAX_TOKENS,
        pad_token: '[PAD]',
        unk_token: '[UNK]',
      }),
    ],
    ['onnx/model.onnx', tinyOnnx()],
  ])
}

export function writeTinyModel(folder: string): void {
  for (const [path, content] of tinyModelFiles()) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
}
