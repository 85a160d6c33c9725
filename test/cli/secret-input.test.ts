import { PassThrough, Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { UsageError } from '../../src/cli/failure.ts'
import { askHidden, readValue } from '../../src/cli/secret-input.ts'

describe('a value from stdin', () => {
  it.each([
    ['sk-ant-1\n', 'sk-ant-1'],
    ['\uFEFF sk-ant-1 \r\n', 'sk-ant-1'],
    ['two\nlines\n', 'two\nlines'],
  ])('%j is %j', async (text, value) => {
    expect(await readValue(Readable.from([Buffer.from(text)]))).toBe(value)
  })

  it('may come in pieces that cut a character', async () => {
    const bytes = Buffer.from('naïve')
    expect(await readValue(Readable.from([bytes.subarray(0, 3), bytes.subarray(3)]))).toBe('naïve')
  })

  it.each([[''], [' \n']])('that is empty changes nothing', async (text) => {
    await expect(readValue(Readable.from([Buffer.from(text)]))).rejects.toThrow('nothing on stdin')
  })

  it('that has no end is not waited for', async () => {
    const endless = Readable.from(
      (function* () {
        for (;;) yield Buffer.alloc(16_384, 'x')
      })(),
    )
    await expect(readValue(endless)).rejects.toThrow(UsageError)
    expect(endless.destroyed).toBe(true)
  })
})

describe('a value from a terminal', () => {
  function terminal() {
    const keys = new PassThrough()
    const screen = new PassThrough()
    const shown = () => String(screen.read() ?? '')
    return { keys, shown, asked: askHidden('Key: ', keys, screen) }
  }

  it('is not shown', async () => {
    const { keys, shown, asked } = terminal()
    keys.write('sk-ant-1\r')
    expect(await asked).toBe('sk-ant-1')
    expect(shown()).toBe('Key: \n')
  })

  it('is asked for once the terminal has stopped to echo', async () => {
    const order: string[] = []
    const keys = Object.assign(new PassThrough(), {
      setRawMode: (on: boolean) => void order.push(on ? 'hidden' : 'shown'),
    })
    const screen = new PassThrough()
    screen.on('data', (chunk) => order.push(String(chunk)))
    const asked = askHidden('Key: ', keys, screen)
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
