/** The page that joins the inspector, which is a page of stately.ai in a frame, to the actors on this machine. */

export const INSPECTOR_URL = 'https://stately.ai/inspect'

export interface BridgePage {
  html: string
  /** What it may load and reach, as its Content-Security-Policy. */
  policy: string
}

export function bridgePage(port: number, nonce: string): BridgePage {
  const socket = `ws://127.0.0.1:${port}`
  return {
    policy: [
      "default-src 'none'",
      `script-src 'nonce-${nonce}'`,
      `style-src 'nonce-${nonce}'`,
      'frame-src https://stately.ai https://*.stately.ai',
      `connect-src ${socket}`,
      "frame-ancestors 'none'",
    ].join('; '),
    html: `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>claude-mem: live actors</title>
<style nonce="${nonce}">html, body, iframe { width: 100%; height: 100%; margin: 0; border: 0 }</style>
<iframe title="Stately Inspector" src="${INSPECTOR_URL}"></iframe>
<script nonce="${nonce}">
  const frame = document.querySelector('iframe')
  const early = []
  let inspector = null
  addEventListener('message', ({ source, origin, data }) => {
    const ours = source === frame.contentWindow && /^https:\\/\\/([a-z0-9-]+\\.)*stately\\.ai$/.test(origin)
    if (!ours || data?.type !== '@statelyai.connected') return
    inspector = origin
    for (const message of early.splice(0)) frame.contentWindow.postMessage(message, inspector)
  })
  new WebSocket('${socket}').onmessage = ({ data }) => {
    const message = JSON.parse(data)
    if (inspector === null) early.push(message)
    else frame.contentWindow.postMessage(message, inspector)
  }
</script>
</html>
`,
  }
}
