import { PassThrough, Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { UsageError } from '../../src/cli/arguments.ts'
import { askSecret, readStdinValue } from '../../src/cli/input.ts'

describe('input.stdin value', () => {
  it.each([
    ['sk-ant-1\n', 'sk-ant-1'],
    ['\uFEFF sk-ant-1 \r\n', 'sk-ant-1'],
    ['two\nlines\n', 'two\nlines'],
  ])('reads %j as %j', async (text, value) => {
    expect(await readStdinValue(Readable.from([Buffer.from(text)]))).toBe(value)
  })

  it('joins chunks that split a character', async () => {
    const bytes = Buffer.from('naïve')
    expect(await readStdinValue(Readable.from([bytes.subarray(0, 3), bytes.subarray(3)]))).toBe('naïve')
  })

  it.each([[''], [' \n']])('rejects an empty value', async (text) => {
    await expect(readStdinValue(Readable.from([Buffer.from(text)]))).rejects.toThrow('stdin is empty')
  })

  it('stops reading an endless stream', async () => {
    const endless = Readable.from(
      (function* () {
        for (;;) yield Buffer.alloc(16_384, 'x')
      })(),
    )
    await expect(readStdinValue(endless)).rejects.toThrow(UsageError)
    expect(endless.destroyed).toBe(true)
  })
})

describe('input.secret', () => {
  function terminal() {
    const keys = new PassThrough()
    const screen = new PassThrough()
    const shown = () => String(screen.read() ?? '')
    return { keys, shown, asked: askSecret('Key: ', keys, screen) }
  }

  it('is not echoed', async () => {
    const { keys, shown, asked } = terminal()
    keys.write('sk-ant-1\r')
    expect(await asked).toBe('sk-ant-1')
    expect(shown()).toBe('Key: \n')
  })

  it('asks only after the echo of the terminal is off', async () => {
    const order: string[] = []
    const keys = Object.assign(new PassThrough(), {
      setRawMode: (on: boolean) => void order.push(on ? 'hidden' : 'shown'),
    })
    const screen = new PassThrough()
    screen.on('data', (chunk) => order.push(String(chunk)))
    const asked = askSecret('Key: ', keys, screen)
    keys.write('sk-ant-1\r')
    await asked
    expect(order.indexOf('hidden')).toBe(0)
    expect(order).toContain('Key: ')
    expect(order).toContain('shown')
  })

  it.each([
    ['nothing', '\r'],
    ['Ctrl-C', 'half\x03'],
    ['Ctrl-D', '\x04'],
  ])('%s changes nothing', async (_name, typed) => {
    const { keys, shown, asked } = terminal()
    keys.write(typed)
    await expect(asked).rejects.toThrow('nothing was changed')
    expect(shown()).toBe('Key: \n')
  })
})
