import * as vscode from 'vscode';
import type { Finding } from '#shared/protocol/languageMessages.ts';

const severities: Record<Finding['severity'], vscode.DiagnosticSeverity> = {
  error: vscode.DiagnosticSeverity.Error,
  warning: vscode.DiagnosticSeverity.Warning,
  hint: vscode.DiagnosticSeverity.Hint,
};
const tags: Record<NonNullable<Finding['tag']>, vscode.DiagnosticTag> = {
  unnecessary: vscode.DiagnosticTag.Unnecessary,
  deprecated: vscode.DiagnosticTag.Deprecated,
};

export class LanguageDiagnostics implements vscode.Disposable {
  readonly #collection = vscode.languages.createDiagnosticCollection('lance-catalog');

  show(cell: vscode.Uri, findings: readonly Finding[]): void {
    const key = cell.toString();
    const document = vscode.workspace.textDocuments.find(({ uri }) => uri.toString() === key);
    // Ignore a cell that was closed meanwhile.
    if (!document) return;
    this.#collection.set(
      document.uri,
      findings.map((finding) => diagnosticOf(document, finding)),
    );
  }

  forget(cell: vscode.Uri): void {
    this.#collection.delete(cell);
  }

  clear(): void {
    this.#collection.clear();
  }

  dispose(): void {
    this.#collection.dispose();
  }
}

function diagnosticOf(document: vscode.TextDocument, finding: Finding): vscode.Diagnostic {
  const { span, message, code, severity, tag } = finding;
  const range = new vscode.Range(document.positionAt(span.start), document.positionAt(span.end));
  const diagnostic = new vscode.Diagnostic(range, message, severities[severity]);
  // Use the source name of VS Code's own TypeScript, because these diagnostics replace the ones of that TypeScript.
  diagnostic.source = 'ts';
  diagnostic.code = code;
  if (tag) diagnostic.tags = [tags[tag]];
  return diagnostic;
}
