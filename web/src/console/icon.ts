import type { Severity } from './schemas.ts';

const SHAPES: Record<Severity, string[]> = {
  calm: ['M12 2a10 10 0 1 0 0 20a10 10 0 1 0 0-20z', 'M7 12.5l3.5 3.5L17 9'],
  notice: ['M12 2a10 10 0 1 0 0 20a10 10 0 1 0 0-20z', 'M12 6.5V12l4 2.5'],
  warning: ['M12 2.5L23 21.5H1z', 'M12 9v6M12 17.6v1.4'],
  alarm: ['M8 2h8l6 6v8l-6 6H8l-6-6V8z', 'M8.5 8.5l7 7M15.5 8.5l-7 7'],
};

const SVG = 'http://www.w3.org/2000/svg';

/** A shape for each severity, so that no reader depends on colour. */
export function icon(severity: Severity): SVGSVGElement {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  svg.setAttribute('class', 'icon');
  SHAPES[severity].forEach((d, i) => {
    const path = document.createElementNS(SVG, 'path');
    path.setAttribute('d', d);
    path.setAttribute('class', i === 0 ? 'outline' : 'sign');
    svg.append(path);
  });
  return svg;
}
