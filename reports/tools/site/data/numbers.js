onnxConformance("numbers","H4sIAAAAAAAAAwMAAAAAAAAAAAA=");
