/** The name of our package. Not that of our command: `claude-mem` in the public registry is another program. */
export const PACKAGE_NAME = 'coding-agent-memory'

export const COMMAND_NAME = 'claude-mem'

/** How to get another version, for messages: what works without a package in a registry. */
export const INSTALL_NEWER =
  'run node dist/cli.js install in a clone of the newer version (after npm run build), or ' +
  'claude-mem update --from FILE with its packed file'
