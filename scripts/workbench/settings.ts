/**
 * Settings of a calm window: no telemetry, no toasts about other processes' ports, no assistants, no welcome page in
 * front of the sample. Used by `npm start` and by the tests alike, so that a test sees what a newcomer sees.
 */
export const calmSettings = {
  'telemetry.telemetryLevel': 'off',
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'workbench.enableExperiments': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.editor.enablePreview': false,
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'update.mode': 'none',
  'chat.disableAIFeatures': true,
  'git.enabled': false,
  'npm.autoDetect': 'off',
  'typescript.disableAutomaticTypeAcquisition': true,
  'remote.autoForwardPorts': false,
} as const satisfies Record<string, unknown>;
