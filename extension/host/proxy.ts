import * as vscode from 'vscode';

export type ProxySettings = { proxy: string; support: string; noProxy: readonly string[] };

/** Reads the current proxy settings; they belong to VS Code, so our manifest does not list them. */
export function proxySettings(): ProxySettings {
  const http = vscode.workspace.getConfiguration('http');
  const noProxy = http.get<unknown>('noProxy');
  return {
    proxy: text(http.get<unknown>('proxy')),
    support: text(http.get<unknown>('proxySupport')),
    noProxy: Array.isArray(noProxy) ? noProxy.filter((one) => typeof one === 'string') : [],
  };
}

export const onDidChangeProxy = (listener: () => void): vscode.Disposable =>
  vscode.workspace.onDidChangeConfiguration((event) => {
    if (['http.proxy', 'http.proxySupport', 'http.noProxy'].some((id) => event.affectsConfiguration(id))) listener();
  });

const text = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');
