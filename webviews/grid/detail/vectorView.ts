import { countText } from '#shared/format/numbers.ts';
import { createElement } from '../../parts/elements.ts';
import type { VectorValue } from '../cellValue.ts';
import { LineList } from './lineList.ts';
import type { ValueView } from './valueView.ts';
import { plot, plotPath, vectorStats, type VectorStats } from './vectorStats.ts';

/** Shows a vector as a line with its range, and its values below. */
export function vectorView({ values, itemText }: VectorValue): ValueView {
  const stats = vectorStats(values);
  const element = createElement('div', { className: 'lance-vector-view' });
  const digits = String(values.length - 1).length;
  const list = new LineList({
    count: values.length,
    line: (index) => `${String(index).padStart(digits)}  ${itemText(index)}`,
    label: 'Values',
  });
  if (values.length > 1 && Number.isFinite(stats.min)) element.append(plotElement(values, stats));
  element.append(list.element);
  return { element, facts: factsOf(values, stats), focusTarget: list.element, close: () => list.close() };
}

function factsOf({ length }: Float64Array, { norm, min, max, mean, notFinite, isZero }: VectorStats): string[] {
  const dimensions = `${countText(length)} ${length === 1 ? 'dimension' : 'dimensions'}`;
  if (isZero) return [dimensions, 'zero vector'];
  return [
    dimensions,
    ...(Number.isNaN(norm) ? [] : [`norm ${shortNumber(norm)}`]),
    ...(Number.isFinite(min) ? [`${shortNumber(min)} to ${shortNumber(max)}`, `mean ${shortNumber(mean)}`] : []),
    ...(notFinite === 0 ? [] : [`${countText(notFinite)} NaN, infinite or null`]),
  ];
}

const shortNumber = (value: number): string => String(Number(value.toPrecision(4)));

const svgNamespace = 'http://www.w3.org/2000/svg';

function plotElement(values: Float64Array, stats: VectorStats): HTMLElement {
  const { min, max } = stats;
  const figure = createElement('div', { className: 'lance-plot' });
  const svg = document.createElementNS(svgNamespace, 'svg');
  svg.setAttribute('viewBox', `0 0 ${plot.width} ${plot.height}`);
  svg.setAttribute('preserveAspectRatio', 'none');
  svg.setAttribute('role', 'img');
  svg.setAttribute(
    'aria-label',
    `Line of ${countText(values.length)} values from ${shortNumber(min)} to ${shortNumber(max)}`,
  );
  if (min < 0 && max > 0) {
    const zero = plot.margin + (max / (max - min)) * (plot.height - 2 * plot.margin);
    svg.append(pathElement(`M0 ${zero.toFixed(1)}H${plot.width}`, 'lance-plot-zero'));
  }
  svg.append(pathElement(plotPath(values, stats), 'lance-plot-line'));
  const scale = createElement('div', { className: 'lance-plot-scale' });
  scale.ariaHidden = 'true';
  scale.append(createElement('span', { text: shortNumber(max) }), createElement('span', { text: shortNumber(min) }));
  figure.append(scale, svg);
  return figure;
}

function pathElement(d: string, className: string): SVGPathElement {
  const path = document.createElementNS(svgNamespace, 'path');
  path.setAttribute('d', d);
  path.setAttribute('class', className);
  path.setAttribute('vector-effect', 'non-scaling-stroke');
  return path;
}
